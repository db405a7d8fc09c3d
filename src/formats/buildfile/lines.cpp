// Files of one setting a line: Makefile, .bazelrc.
#include "base/text.hpp"
#include "formats/buildfile/readers.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

// Lines with their continuation lines put behind them; `visit(MappedText)`.
template <class F> void logical_lines(std::string_view text, F visit) {
  size_t at = 0;
  while (at < text.size()) {
    MappedText whole;
    bool goes_on = true;
    while (goes_on && at < text.size()) {
      size_t end = std::min(text.find('\n', at), text.size());
      std::string_view line = text.substr(at, end - at);
      if (line.ends_with('\r')) line.remove_suffix(1);
      goes_on = line.ends_with('\\');
      if (goes_on) line.remove_suffix(1);
      whole.add(line, at);
      if (goes_on) whole.add(" ", at + line.size());
      at = std::min(end + 1, text.size());
    }
    visit(whole);
  }
}

MappedText trimmed_part(const MappedText& text, size_t begin, size_t end) {
  std::string_view bytes = text.text;
  while (begin < end && (bytes[begin] == ' ' || bytes[begin] == '\t'))
    ++begin;
  while (end > begin && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t'))
    --end;
  MappedText made = text.part(begin, end);
  if (made.from.empty()) made.from.push_back(static_cast<uint32_t>(text.offset(begin)));
  return made;
}

// NAME = value, :=, ?=, += ; npos: the line is none.
size_t assignment_mark(std::string_view line) {
  size_t equals = line.find('=');
  if (equals == line.npos || equals == 0) return line.npos;
  size_t end = equals;
  while (end > 0 && (line[end - 1] == ':' || line[end - 1] == '?' || line[end - 1] == '+'))
    --end;
  std::string_view name = trimmed(line.substr(0, end));
  for (std::string_view word : {"export ", "override "})
    if (name.starts_with(word)) name = trimmed(name.substr(word.size()));
  return is_variable_name(name) ? equals : line.npos;
}

void make_assignment(const MappedText& line, size_t equals, Collector& found) {
  std::string_view text = line.text;
  size_t end = equals;
  bool fallback = text[equals - 1] == '?';
  while (end > 0 && (text[end - 1] == ':' || text[end - 1] == '?' || text[end - 1] == '+' ||
                     text[end - 1] == ' ' || text[end - 1] == '\t'))
    --end;
  size_t begin = text.substr(0, end).find_last_of(" \t");
  begin = begin == text.npos ? 0 : begin + 1;
  bool exported = trimmed(text.substr(0, begin)) == "export";
  size_t stop = text.size();
  if (size_t hash = text.find('#', equals); hash != text.npos && text[hash - 1] != '\\')
    stop = hash;
  Written value{trimmed_part(line, equals + 1, stop), true};
  std::string_view name = text.substr(begin, end - begin);
  // make passes '$' on doubled; its own references are $(NAME), as understood elsewhere.
  found.variable(name, value,
                 {exported ? SettingForm::environment : SettingForm::assignment, "make", fallback,
                  line.offset(begin), line.offset(end)});
  found.flags(value.text);
}

} // namespace

void read_makefile(std::string_view text, Collector& found) {
  logical_lines(text, [&](const MappedText& line) {
    std::string_view bare = trimmed(line.text);
    if (bare.empty() || bare.front() == '#') return;
    if (line.text.front() == '\t') {
      size_t begin = line.text.find_first_not_of("\t @-+");
      if (begin == std::string::npos) return;
      found.script(line.part(begin, line.text.size()));
      return;
    }
    size_t equals = assignment_mark(line.text);
    if (equals != std::string::npos) make_assignment(line, equals, found);
  });
}

void read_bazelrc(std::string_view text, Collector& found) {
  logical_lines(text, [&](const MappedText& line) {
    std::string_view bare = trimmed(line.text);
    if (bare.empty() || bare.front() == '#') return;
    size_t hash = line.text.find(" #");
    MappedText words = line.part(0, hash == std::string::npos ? line.text.size() : hash);
    for (const ShellCommand& command : shell_commands(words, ShellDialect::words)) {
      std::vector<Written> list;
      for (const ShellWord& word : command.words) {
        // Bazel takes quotes away only around a whole word; in --x="..." too.
        list.push_back(written(words, word));
        list.back().quoted = true;
      }
      // "build:cuda --repo_env NAME=value": the first word is Bazel's command.
      if (!list.empty()) list.front().text.text = "bazel";
      if (!list.empty()) list.front().text.from.resize(5, list.front().text.from.front());
      found.words(list, {});
    }
  });
}

} // namespace gpuvet
