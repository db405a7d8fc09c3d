#include "cli/completion_shells.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace gpuvet {
namespace {

using Kind = ValueHint::Kind;

// A word of bash, zsh or the text of a help line: quoted so that nothing in it is special.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

// fish knows backslash escapes between single quotes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string last_word(std::string_view path) {
  return std::string(path.substr(path.find_last_of(' ') + 1));
}

std::vector<const Level*> below(const std::vector<Level>& levels, const Level& parent) {
  std::vector<const Level*> found;
  for (const Level& level : levels) {
    size_t end = level.path.find_last_of(' ');
    if (end != std::string::npos && std::string_view(level.path).substr(0, end) == parent.path)
      found.push_back(&level);
  }
  return found;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

// 'gpuvet scan'|'gpuvet facts'|...: every level but the first, as a pattern of bash and zsh.
std::string level_pattern(const std::vector<Level>& levels) {
  std::vector<std::string> patterns;
  for (size_t index = 1; index < levels.size(); ++index)
    patterns.push_back(shell_quoted(levels[index].path));
  return joined(patterns, "|");
}

// 'gpuvet scan:--out'|'gpuvet scan:-o'
std::string option_pattern(const Level& level, const OptionHint& option) {
  std::vector<std::string> patterns;
  for (const std::string& name : option.names)
    patterns.push_back(shell_quoted(level.path + ":" + name));
  return joined(patterns, "|");
}

std::string bash_action(const ValueHint& value) {
  switch (value.kind) {
  case Kind::files:
    return "_gpuvet_files -f";
  case Kind::directories:
    return "_gpuvet_files -d";
  case Kind::choices:
    return "_gpuvet_words " + shell_quoted(joined(value.choices, " "));
  default:
    return ":";
  }
}

std::string zsh_action(const ValueHint& value) {
  switch (value.kind) {
  case Kind::files:
    return "_files";
  case Kind::directories:
    return "_files -/";
  case Kind::choices:
    return "compadd -- " + joined(value.choices, " ");
  default:
    return ":";
  }
}

// 'name:help' for zsh's _describe, where a colon in the name would end it.
std::string zsh_entry(std::string_view name, std::string_view help) {
  return shell_quoted(std::string(name) + ":" + std::string(help));
}

} // namespace

std::string bash_completion(const std::vector<Level>& levels) {
  std::string values, options, arguments;
  for (const Level& level : levels) {
    std::vector<std::string> names;
    for (const OptionHint& option : level.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
      if (option.value.kind != Kind::none)
        values += fmt::format("  {}) {}; return ;;\n", option_pattern(level, option),
                              bash_action(option.value));
    }
    options += fmt::format("    {}) _gpuvet_words {} ;;\n", shell_quoted(level.path),
                           shell_quoted(joined(names, " ")));
    std::vector<std::string> commands;
    for (const Level* command : below(levels, level))
      commands.push_back(last_word(command->path));
    arguments +=
        fmt::format("  {}) {} ;;\n", shell_quoted(level.path),
                    commands.empty() ? bash_action(level.positional)
                                     : "_gpuvet_words " + shell_quoted(joined(commands, " ")));
  }
  return fmt::format(R"(# bash completion for gpuvet; load it with: source <(gpuvet completion bash)
_gpuvet_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }}
_gpuvet_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}}
_gpuvet() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local place={0} index
  COMPREPLY=()
  # bash splits --option=value at the sign.
  if [[ $current == '=' ]]; then
    current=
  elif [[ $previous == '=' && COMP_CWORD -ge 2 ]]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for ((index = 1; index < COMP_CWORD; ++index)); do
    case "$place ${{COMP_WORDS[index]}}" in
    {1}) place+=" ${{COMP_WORDS[index]}}" ;;
    esac
  done
  case "$place:$previous" in
{2}  esac
  if [[ $current == -* ]]; then
    case $place in
{3}    esac
    return
  fi
  case $place in
{4}  esac
}}
complete -F _gpuvet gpuvet
)",
                     levels.front().path, level_pattern(levels), values, options, arguments);
}

std::string zsh_completion(const std::vector<Level>& levels) {
  std::string values, options, arguments;
  for (const Level& level : levels) {
    std::string entries;
    for (const OptionHint& option : level.options) {
      for (const std::string& name : option.names)
        entries += " " + zsh_entry(name, option.help);
      if (option.value.kind != Kind::none)
        values += fmt::format("  ({}) {}; return ;;\n", option_pattern(level, option),
                              zsh_action(option.value));
    }
    options += fmt::format("  ({}) entries=({}) ;;\n", shell_quoted(level.path), entries);
    std::string commands;
    for (const Level* command : below(levels, level))
      commands += " " + zsh_entry(last_word(command->path), command->help);
    arguments +=
        commands.empty()
            ? fmt::format("  ({}) {} ;;\n", shell_quoted(level.path), zsh_action(level.positional))
            : fmt::format("  ({}) entries=({}); _describe command entries ;;\n",
                          shell_quoted(level.path), commands);
  }
  return fmt::format(R"(#compdef gpuvet
# zsh completion for gpuvet; load it with: source <(gpuvet completion zsh)
_gpuvet() {{
  local place={0} index
  local -a entries
  for ((index = 2; index < CURRENT; ++index)); do
    case "$place ${{words[index]}}" in
    ({1}) place+=" ${{words[index]}}" ;;
    esac
  done
  case "$place:${{words[CURRENT-1]}}" in
{2}  esac
  if [[ $PREFIX == -* ]]; then
    case $place in
{3}    esac
    _describe -o option entries
    return
  fi
  case $place in
{4}  esac
}}
if [[ $funcstack[1] == _gpuvet ]]; then
  _gpuvet "$@"
else
  compdef _gpuvet gpuvet
fi
)",
                     levels.front().path, level_pattern(levels), values, options, arguments);
}

std::string fish_completion(const std::vector<Level>& levels) {
  std::vector<std::string> paths;
  for (const Level& level : levels)
    paths.push_back(fish_quoted(level.path));
  std::string rules;
  for (const Level& level : levels) {
    std::string at = fmt::format("complete -c gpuvet -n {} ",
                                 fish_quoted("__gpuvet_at " + fish_quoted(level.path)));
    for (const Level* command : below(levels, level))
      rules += fmt::format("{}-a {} -d {}\n", at, fish_quoted(last_word(command->path)),
                           fish_quoted(command->help));
    for (const OptionHint& option : level.options) {
      std::string names;
      for (const std::string& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      std::string value;
      if (option.value.kind == Kind::files)
        value = " -r -F";
      else if (option.value.kind == Kind::directories)
        value = " -x -a '(__fish_complete_directories)'";
      else if (option.value.kind == Kind::choices)
        value = " -x -a " + fish_quoted(joined(option.value.choices, " "));
      else if (option.value.kind == Kind::text)
        value = " -x";
      rules += fmt::format("{}{}{} -d {}\n", at, names.substr(1), value, fish_quoted(option.help));
    }
    if (level.positional.kind == Kind::choices)
      rules += at + "-a " + fish_quoted(joined(level.positional.choices, " ")) + "\n";
    else if (level.positional.kind == Kind::directories)
      rules += at + "-a '(__fish_complete_directories)'\n";
    else if (level.positional.kind == Kind::files)
      rules += at + "-F\n";
  }
  return fmt::format(R"(# fish completion for gpuvet; load it with: gpuvet completion fish | source
function __gpuvet_at --description 'Do these words lead to where the cursor is?'
  set -l place {0}
  for word in (commandline -opc)[2..-1]
    if contains -- "$place $word" {1}
      set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
complete -c gpuvet -f
{2})",
                     levels.front().path, joined(paths, " "), rules);
}

} // namespace gpuvet
