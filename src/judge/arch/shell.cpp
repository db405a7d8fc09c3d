#include "judge/arch/shell.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace gpuvet {
namespace {

// In the order of the enumeration.
const std::vector<std::string> kNames = {"bash",       "fish",         "powershell", "cmd",
                                         "dockerfile", "cmake-preset", "yaml"};

bool is_plain(Shell shell, char c) {
  bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  if (alphanumeric || c == '_' || c == '-' || c == '/' || c == ':') return true;
  // PowerShell cuts -DX=8.6 at the dot, and it and cmd break words at commas.
  bool windows = shell == Shell::powershell || shell == Shell::cmd;
  return !windows && (c == '.' || c == ',' || c == '=' || c == '+' || c == '@');
}

std::string escaped(std::string_view text, std::string_view special, char with) {
  std::string out;
  for (char c : text) {
    if (special.find(c) != std::string_view::npos) out += with;
    out += c;
  }
  return out;
}

// In double quotes, always.
std::string in_quotes(Shell shell, std::string_view text) {
  switch (shell) {
  case Shell::powershell:
    return '"' + escaped(text, "\"$`", '`') + '"';
  case Shell::cmd:
    return '"' + escaped(text, "%", '%') + '"';
  case Shell::cmake_preset:
  case Shell::yaml:
    return '"' + escaped(text, "\"\\", '\\') + '"';
  case Shell::fish:
    return '"' + escaped(text, "\"\\$", '\\') + '"';
  case Shell::bash:
  case Shell::dockerfile:
    break;
  }
  return '"' + escaped(text, "\"\\$`", '\\') + '"';
}

using Settings = std::vector<std::pair<std::string, std::string>>;

// "-DA=1 -DB=\"2 3\"": values of systems with several variables are already such a text.
Settings settings_of(std::string_view value) {
  Settings settings;
  for (size_t at = value.find("-D"); at != std::string_view::npos; at = value.find("-D", at)) {
    size_t equals = value.find('=', at);
    if (equals == std::string_view::npos) break;
    std::string name(value.substr(at + 2, equals - at - 2));
    bool quoted = equals + 1 < value.size() && value[equals + 1] == '"';
    size_t begin = equals + (quoted ? 2 : 1);
    size_t end = std::min(value.find(quoted ? '"' : ' ', begin), value.size());
    settings.emplace_back(name, value.substr(begin, end - begin));
    at = end;
  }
  return settings;
}

Settings cmake_settings(const ArchSystem& system, std::string_view value) {
  if (system.form == "two" || system.form == "option") return settings_of(value);
  return {{system.variable, std::string(value)}};
}

// -DNAME="VALUE": quotes around the value where the shell allows it inside a word, as people write.
std::string definition(Shell shell, const std::string& name, const std::string& value) {
  std::string whole = "-D" + name + "=" + value;
  if (shell == Shell::powershell || shell == Shell::cmd) return in_quotes(shell, whole);
  Shell inner = shell == Shell::yaml ? Shell::bash : shell;
  bool plain = !value.empty() && shell_word(inner, value) == value;
  return plain ? whole : "-D" + name + "=" + in_quotes(inner, value);
}

std::string command_line(const ArchSystem& system, std::string_view value, Shell shell) {
  Shell inner = shell == Shell::yaml || shell == Shell::dockerfile ? Shell::bash : shell;
  std::vector<std::string> words = {system.before};
  if (system.set_by == "cmake") {
    for (const auto& setting : cmake_settings(system, value))
      words.push_back(definition(shell, setting.first, setting.second));
  } else if (system.option.empty()) {
    for (const std::string& flag : words_of(value))
      words.push_back(shell_word(inner, flag));
  } else {
    std::string quoted = shell_word(inner, value);
    bool windows = inner == Shell::powershell || inner == Shell::cmd;
    words.push_back(windows ? shell_word(inner, system.option + std::string(value))
                            : system.option + quoted);
  }
  if (!system.after.empty()) words.push_back(system.after);
  return joined(words, " ");
}

std::string environment_line(const ArchSystem& system, std::string_view value, Shell shell) {
  std::string quoted = in_quotes(shell, value);
  switch (shell) {
  case Shell::fish:
    return fmt::format("set -gx {} {}", system.variable, quoted);
  case Shell::powershell:
    return fmt::format("$env:{} = {}", system.variable, quoted);
  case Shell::cmd:
    return fmt::format("set \"{}={}\"", system.variable, escaped(value, "%", '%'));
  case Shell::dockerfile:
    return fmt::format("ENV {}={}", system.variable, quoted);
  case Shell::yaml:
    return fmt::format("{}: {}", system.variable, quoted);
  case Shell::cmake_preset:
    return fmt::format("\"environment\": {{\"{}\": {}}}", system.variable, quoted);
  case Shell::bash:
    break;
  }
  return fmt::format("export {}={}", system.variable, quoted);
}

std::string preset_line(const ArchSystem& system, std::string_view value) {
  std::vector<std::string> entries;
  for (const auto& setting : cmake_settings(system, value))
    entries.push_back(
        fmt::format("\"{}\": {}", setting.first, in_quotes(Shell::cmake_preset, setting.second)));
  return "\"cacheVariables\": {" + joined(entries) + "}";
}

} // namespace

const std::vector<std::string>& shell_names() {
  return kNames;
}

std::optional<Shell> shell_named(std::string_view name) {
  auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Shell>(found - kNames.begin());
}

std::string shell_word(Shell shell, std::string_view word) {
  bool plain = !word.empty() &&
               std::all_of(word.begin(), word.end(), [&](char c) { return is_plain(shell, c); });
  return plain ? std::string(word) : in_quotes(shell, word);
}

Result<std::vector<std::string>> value_lines(const ArchSystem& system, std::string_view value,
                                             Shell shell) {
  std::vector<std::string> lines;
  if (system.set_by == "file") {
    size_t hole = system.line.find("{}");
    lines.push_back(system.line.substr(0, hole) + std::string(value) +
                    system.line.substr(hole + 2));
    return lines;
  }
  if (system.set_by == "environment") {
    lines.push_back(environment_line(system, value, shell));
    return lines;
  }
  if (shell == Shell::cmake_preset) {
    if (system.set_by != "cmake")
      return fail(fmt::format("a CMake preset cannot give {} its targets", system.tool), system.id);
    lines.push_back(preset_line(system, value));
    return lines;
  }
  std::string command = command_line(system, value, shell);
  lines.push_back(shell == Shell::dockerfile ? "RUN " + command
                  : shell == Shell::yaml     ? "run: " + command
                                             : command);
  return lines;
}

} // namespace gpuvet
