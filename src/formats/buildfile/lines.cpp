// Files of one setting a line: Makefile, .bazelrc, pyproject.toml.
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
      MappedText recipe = line.part(begin, line.text.size());
      size_t first = found.file.toolkits.size();
      found.script(recipe);
      (void)first;
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

// Enough of TOML for settings: tables, keys, strings, arrays and inline tables.
void read_toml_settings(std::string_view text, Collector& found) {
  std::string table;
  size_t at = 0;
  auto string_at = [&](size_t begin, size_t& end) {
    Written made;
    made.quoted = true;
    std::string close(1, text[begin]);
    if (text.substr(begin).starts_with(close + close + close)) close += close + close;
    size_t i = begin + close.size();
    size_t first = i;
    while (i < text.size() && !text.substr(i).starts_with(close)) {
      if (text[i] == '\\' && close[0] == '"' && i + 1 < text.size()) ++i;
      made.text.add(text.substr(i, 1), i);
      ++i;
    }
    if (made.text.from.empty()) made.text.from.push_back(static_cast<uint32_t>(first));
    end = std::min(i + close.size(), text.size());
    return made;
  };
  std::string key;
  size_t key_begin = 0, key_end = 0;
  bool in_value = false;
  int depth = 0;
  while (at < text.size()) {
    char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '\n') {
      if (depth == 0) {
        key.clear();
        in_value = false;
      }
      ++at;
    } else if (!in_value && c == '[' && depth == 0 && key.empty()) {
      size_t end = std::min(text.find('\n', at), text.size());
      std::string_view line = text.substr(at, end - at);
      size_t first = line.find_first_not_of('['), last = line.find(']');
      if (first != line.npos && last != line.npos && last > first)
        table = trimmed(line.substr(first, last - first));
      at = end;
    } else if (c == '"' || c == '\'') {
      size_t end = 0;
      Written value = string_at(at, end);
      size_t next = text.find_first_not_of(" \t", end);
      if (next != text.npos && text[next] == '=' && (!in_value || depth > 0)) {
        key = value.text.text;
        key_begin = at + 1;
        key_end = end - 1;
        in_value = true;
        at = next + 1;
        continue;
      }
      if (in_value) {
        std::string full = table.empty() ? key : table + "." + key;
        size_t dot = key.rfind('.');
        std::string_view name =
            std::string_view(key).substr(dot == std::string::npos ? 0 : dot + 1);
        bool define = full.find("cmake.define") != std::string::npos;
        bool environment = full.find("environment") != std::string::npos;
        bool requires_list = full == "build-system.requires";
        bool arguments = full.find("cmake.args") != std::string::npos ||
                         full.find("cmake-args") != std::string::npos;
        if (define || (environment && name != "environment"))
          found.variable(name, value,
                         {define ? SettingForm::definition : SettingForm::environment,
                          define ? "cmake.define" : "environment", false, key_begin, key_end});
        else if (environment) // cibuildwheel: environment = "NAME=value NAME2='value'"
          found.script(value.text);
        else if (arguments)
          found.flags(value.text);
        else if (requires_list)
          found.versions_in(value.text);
        else if (full.find("cibuildwheel") != std::string::npos &&
                 full.find("before") != std::string::npos)
          found.script(value.text);
      }
      at = end;
    } else if (c == '=' && !in_value) {
      in_value = true;
      ++at;
    } else if (c == '[' || c == '{') {
      ++depth;
      ++at;
    } else if (c == ']' || c == '}') {
      depth = std::max(0, depth - 1);
      ++at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == ',') {
      ++at;
    } else {
      size_t end = at;
      while (end < text.size() &&
             (is_variable_name(text.substr(end, 1)) || (text[end] >= '0' && text[end] <= '9') ||
              text[end] == '-' || text[end] == '.'))
        ++end;
      if (end == at) {
        ++at;
        continue;
      }
      size_t next = text.find_first_not_of(" \t", end);
      if (next != text.npos && text[next] == '=' && (!in_value || depth > 0)) {
        key = text.substr(at, end - at);
        key_begin = at;
        key_end = end;
        in_value = true;
        at = next + 1;
        continue;
      }
      at = end;
    }
  }
}

} // namespace gpuvet
