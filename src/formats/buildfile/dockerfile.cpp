// Dockerfile and Containerfile: https://docs.docker.com/reference/dockerfile/
#include "base/text.hpp"
#include "formats/buildfile/readers.hpp"

#include <algorithm>
#include <cctype>

namespace gpuvet {
namespace {

struct Instruction {
  std::string name; // upper case
  MappedText rest;
};

class Reader {
 public:
  Reader(std::string_view text, Collector& found) : text_(text), found_(found) {}

  void run() {
    while (at_ < text_.size()) {
      Instruction one = next();
      if (!one.name.empty()) take(one);
    }
  }

 private:
  std::string_view line() {
    size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view found = text_.substr(at_, end - at_);
    begin_ = at_;
    at_ = std::min(end + 1, text_.size());
    return found;
  }

  Instruction next() {
    Instruction made;
    bool goes_on = true, first = true;
    while (goes_on && (first || at_ < text_.size())) {
      std::string_view text = line();
      std::string_view bare = trimmed(text);
      if (bare.empty() || bare.front() == '#') {
        if (first) return made;
        continue; // comments and empty lines inside an instruction are dropped
      }
      goes_on = bare.back() == '\\';
      // Blanks at the start of a continuation line stay: they may part words, or stand in quotes.
      if (!first) bare = text.substr(0, static_cast<size_t>(bare.end() - text.begin()));
      size_t offset = begin_ + static_cast<size_t>(bare.begin() - text.begin());
      if (goes_on) bare.remove_suffix(1);
      if (first) {
        size_t end = std::min(bare.find_first_of(" \t"), bare.size());
        for (char c : bare.substr(0, end))
          made.name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        made.rest.add(bare.substr(end), offset + end);
        first = false;
      } else
        made.rest.add(bare, offset);
    }
    return made;
  }

  // The lines of <<EOF, which a RUN takes as its script.
  MappedText heredoc(std::string_view end) {
    MappedText body;
    while (at_ < text_.size()) {
      std::string_view text = line();
      if (trimmed(text) == end) break;
      body.add(text, begin_);
      body.add("\n", begin_ + text.size());
    }
    return body;
  }

  void take(const Instruction& one) {
    if (one.name == "FROM") from(one.rest);
    if (one.name == "ENV") env(one.rest);
    if (one.name == "ARG") arguments(one.rest);
    if (one.name == "RUN") run_line(one.rest);
    if (one.name != "RUN" && one.name != "FROM" && one.rest.text.find("<<") != std::string::npos)
      heredoc(heredoc_end(one.rest.text));
  }

  static std::string heredoc_end(std::string_view text) {
    size_t at = text.find("<<");
    if (at == text.npos) return {};
    text.remove_prefix(at + 2);
    if (text.starts_with('-')) text.remove_prefix(1);
    std::string_view word = text.substr(0, text.find_first_of(" \t;&|"));
    return std::string(unquoted(word));
  }

  void from(const MappedText& rest) {
    found_.scope = std::to_string(++stage_);
    for (const ShellCommand& command : shell_commands(rest, ShellDialect::words))
      for (const ShellWord& word : command.words) {
        if (word.text.starts_with("--")) continue;
        found_.image(written(rest, word).text);
        return;
      }
  }

  void arguments(const MappedText& rest) {
    for (const ShellCommand& command : shell_commands(rest, ShellDialect::words))
      for (const ShellWord& word : command.words)
        assign(written(rest, word), "ARG", true);
  }

  BuildSetting* assign(const Written& word, std::string_view instruction, bool fallback) {
    std::string_view text = word.text.text;
    size_t equals = text.find('=');
    if (equals == text.npos || !is_variable_name(text.substr(0, equals))) return nullptr;
    Written value = value_part(word, equals + 1);
    return found_.variable(text.substr(0, equals), value,
                           {SettingForm::environment, std::string(instruction), fallback,
                            word.text.offset(0), word.text.offset(equals)});
  }

  void env(const MappedText& rest) {
    std::vector<ShellCommand> commands = shell_commands(rest, ShellDialect::words);
    if (commands.empty()) return;
    const std::vector<ShellWord>& words = commands.front().words;
    if (words.front().text.find('=') == std::string::npos) { // ENV NAME the rest
      if (words.size() < 2) return;
      Written value{rest.part(words[1].begin, words.back().end), true};
      found_.variable(words.front().text, value,
                      {SettingForm::environment, "ENV", false, rest.offset(words.front().begin),
                       rest.offset(words.front().end)});
      return;
    }
    BuildSetting* last = nullptr;
    size_t cut = 0;
    for (const ShellWord& word : words) {
      Written one = written(rest, word);
      if (word.text.find('=') != std::string::npos) {
        last = assign(one, "ENV", false);
        if (last && word.quoted) last = nullptr;
        cut = word.end;
      } else if (last && looks_like_architecture(word.text)) {
        last->after = rest.text.substr(cut, word.end - cut);
        last->after_end = rest.offset(word.end);
      }
    }
  }

  void run_line(const MappedText& rest) {
    size_t begin = rest.text.find_first_not_of(" \t");
    while (begin != std::string::npos && rest.text.compare(begin, 2, "--") == 0) { // --mount=...
      begin = rest.text.find_first_of(" \t", begin);
      if (begin != std::string::npos) begin = rest.text.find_first_not_of(" \t", begin);
    }
    if (begin == std::string::npos) return;
    MappedText script = rest.part(begin, rest.text.size());
    if (script.text.starts_with("<<")) return found_.script(heredoc(heredoc_end(script.text)));
    if (script.text.find("<<") != std::string::npos) heredoc(heredoc_end(script.text));
    if (script.text.starts_with("[")) return exec_form(script);
    found_.script(script);
  }

  // RUN ["cmake", "-DNAME=value"]
  void exec_form(const MappedText& list) {
    std::vector<Written> words;
    size_t open = list.text.find('"');
    while (open != std::string::npos) {
      size_t close = list.text.find('"', open + 1);
      if (close == std::string::npos) break;
      words.push_back({list.part(open + 1, close), true});
      open = list.text.find('"', close + 1);
    }
    found_.words(words, {});
  }

  std::string_view text_;
  Collector& found_;
  size_t at_ = 0, begin_ = 0;
  int stage_ = 0;
};

} // namespace

void read_dockerfile(std::string_view text, Collector& found) {
  found.without_gpu = "docker build sees no GPU";
  Reader(text, found).run();
}

} // namespace gpuvet
