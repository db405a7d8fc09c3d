// The shell's side of Collector: commands, their assignments, definitions and options.
#include "base/text.hpp"
#include "formats/buildfile/collect.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr int kDeepest = 4; // commands inside values inside commands

template <size_t N> bool among(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Words that come before the command proper.
constexpr std::array<std::string_view, 21> kPrefixes = {
    "sudo",  "env",      "time", "then",      "do",    "else",    "if",
    "elif",  "while",    "!",    "{",         "exec",  "nice",    "export",
    "local", "readonly", "run",  "cross-env", "nohup", "command", "builtin"};

// Commands whose arguments are text, not settings.
constexpr std::array<std::string_view, 21> kTextCommands = {
    "echo", "printf", "grep",  "egrep", "sed", "awk", "cat",  "read", "test",  "[",     "[[",
    "perl", "expr",   "print", "tee",   "jq",  "rg",  "case", "for",  "unset", "logger"};

// Options of nvcc and clang that name architectures, longest first.
constexpr std::array<std::string_view, 12> kOptions = {"--cuda_compute_capabilities",
                                                       "--@rules_cuda//cuda:archs",
                                                       "--gpu-architecture",
                                                       "-gpu-architecture",
                                                       "--generate-code",
                                                       "-generate-code",
                                                       "--cuda-gpu-arch",
                                                       "--offload-arch",
                                                       "--gpu-code",
                                                       "-gencode",
                                                       "-arch",
                                                       "-code"};

std::string_view program(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// Options that are common words elsewhere count only with a value that only CUDA has.
bool is_cuda_value(std::string_view option, std::string_view value, std::string_view command) {
  if (option == "-gencode" || option == "--generate-code" || option == "-generate-code")
    return value.find('=') != value.npos;
  if (option != "-arch" && option != "-code" && option != "--offload-arch") return true;
  if (program(command).find("nvcc") != std::string_view::npos) return true;
  for (std::string_view start : {"sm_", "compute_", "lto_"})
    if (value.starts_with(start)) return true;
  return false;
}

bool is_file_script(std::string_view word) {
  return word.ends_with(".sh") || word.ends_with(".bash");
}

} // namespace

void Collector::script(const MappedText& text) {
  if (depth_ >= kDeepest) return;
  ++depth_;
  std::vector<ShellCommand> commands = shell_commands(text, ShellDialect::script);
  for (size_t i = 0; i < commands.size(); ++i) {
    size_t first = pending_.size();
    std::vector<Written> list;
    for (const ShellWord& word : commands[i].words)
      list.push_back(written(text, word));
    words(list, {});
    // What the shell cut off behind an unquoted value.
    if (pending_.size() == first || commands[i].words.empty()) continue;
    const ShellWord& last = commands[i].words.back();
    Pending& pending = pending_.back();
    size_t value_end = pending.value.text.offset(pending.value.text.text.size());
    bool whole = !last.quoted && !pending.value.text.text.empty() &&
                 text.offset(last.end) == value_end && commands[i].end == ";" &&
                 commands[i].end_at == last.end;
    size_t end = last.end;
    for (size_t k = i + 1; whole && k < commands.size(); ++k) {
      const ShellWord& word = commands[k].words.front();
      if (word.begin != end + 1 || word.quoted || !looks_like_architecture(word.text)) break;
      end = word.end;
      pending.setting.after = text.text.substr(last.end, end - last.end);
      pending.setting.after_end = text.offset(end);
      if (commands[k].words.size() > 1 || commands[k].end != ";" || commands[k].end_at != end)
        break;
    }
  }
  --depth_;
}

void Collector::flags(const MappedText& text) {
  if (depth_ >= kDeepest) return;
  ++depth_;
  for (const ShellCommand& command : shell_commands(text, ShellDialect::words)) {
    std::vector<Written> list;
    for (const ShellWord& word : command.words)
      list.push_back(written(text, word));
    arguments(list, 0, {});
  }
  --depth_;
}

// NAME=value words before a command, and those of export. Gives the index of the first other word.
size_t Collector::assignments(const std::vector<Written>& list, size_t i) {
  for (; i < list.size(); ++i) {
    std::string_view word = list[i].text.text;
    if (word == "-x" || word == "-g" || word == "-gx") continue;
    size_t equals = word.find('=');
    size_t name_size = equals == word.npos ? 0 : equals;
    if (name_size > 0 && word[name_size - 1] == '+') --name_size; // NAME+=value
    if (name_size == 0 || !is_variable_name(word.substr(0, name_size))) break;
    Written value = value_part(list[i], equals + 1);
    size_t before = pending_.size();
    BuildSetting* setting = variable(word.substr(0, name_size), value,
                                     {SettingForm::environment, "", false, list[i].text.offset(0),
                                      list[i].text.offset(name_size)});
    if (!setting) flags(value.text);
    if (pending_.size() == before + 1) i = cut_by_blank(list, i);
  }
  return i;
}

// A value without quotes whose next words look like more of it: they are lost. Gives the index of
// the last of them.
size_t Collector::cut_by_blank(const std::vector<Written>& list, size_t i) {
  Pending& pending = pending_.back();
  auto is_more = [&](size_t k) {
    return k < list.size() && !list[k].quoted && looks_like_architecture(list[k].text.text);
  };
  if (list[i].quoted || pending.setting.form == SettingForm::option || !is_more(i + 1) ||
      !looks_like_architecture(pending.value.text.text))
    return i;
  size_t begin = list[i].text.offset(list[i].text.text.size());
  while (is_more(i + 1))
    ++i;
  size_t end = list[i].text.offset(list[i].text.text.size());
  if (end <= begin || end > bytes_.size()) return i;
  pending.setting.after = std::string(bytes_.substr(begin, end - begin));
  pending.setting.after_end = end;
  return i;
}

void Collector::words(const std::vector<Written>& list, std::string_view outer) {
  size_t i = 0;
  std::string command(outer);
  auto text_of = [&](size_t k) -> std::string_view { return list[k].text.text; };
  auto skip_prefixes = [&] {
    while (i < list.size() && (among(program(text_of(i)), kPrefixes) || text_of(i) == "-i"))
      ++i;
  };
  skip_prefixes();
  if (i < list.size() && (text_of(i) == "declare" || text_of(i) == "typeset")) ++i;
  i = assignments(list, i);
  skip_prefixes();
  if (i >= list.size()) return;
  command = std::string(program(text_of(i)));
  if (among(command, kTextCommands)) return;
  if (command == "set" || command == "setenv") { // fish: set -x NAME value; csh: setenv NAME value
    while (++i < list.size() && text_of(i).starts_with('-')) {
    }
    if (i + 1 < list.size() && is_variable_name(text_of(i)) && sets_architectures(text_of(i)))
      variable(text_of(i), list[i + 1], {SettingForm::environment, command, false, 0, 0});
    return;
  }
  if (command.starts_with("$env:") && i + 2 < list.size() && text_of(i + 1) == "=") { // PowerShell
    std::string_view name = std::string_view(command).substr(5);
    variable(name, list[i + 2], {SettingForm::environment, "$env", false, 0, 0});
    return;
  }
  bool shell = command == "bash" || command == "sh" || command == "source" || command == ".";
  if (shell || is_file_script(command) || command == "make" || command == "ninja")
    file.runs_scripts = true;
  if (shell)
    for (size_t k = i + 1; k + 1 < list.size(); ++k)
      if (text_of(k).starts_with('-') && text_of(k).ends_with('c')) return script(list[k + 1].text);
  note_publishing(list);
  arguments(list, i + 1, command);
}

void Collector::arguments(const std::vector<Written>& list, size_t first,
                          std::string_view command) {
  auto text_of = [&](size_t k) -> std::string_view { return list[k].text.text; };
  for (size_t i = first; i < list.size(); ++i) {
    versions_in(list[i].text);
    std::string_view word = text_of(i);
    size_t before = pending_.size();
    bool wants_value = false;
    if (argument(list[i], command, wants_value) && wants_value && i + 1 < list.size()) {
      for (std::string_view name : kOptions)
        if (word == name && is_cuda_value(name, text_of(i + 1), command)) {
          option(name, list[i + 1], command);
          ++i;
          break;
        }
      if (word == "-D" && i + 1 < list.size()) {
        Written joined = list[i + 1];
        joined.text.text = "-D" + joined.text.text;
        uint32_t at = joined.text.from.empty() ? 0 : joined.text.from.front();
        joined.text.from.insert(joined.text.from.begin(), {at, at});
        bool unused = false;
        argument(joined, command, unused);
        ++i;
      }
    }
    if (pending_.size() == before + 1) i = cut_by_blank(list, i);
  }
}

// One word that may hold a setting; `wants_value`: its value is the next word.
bool Collector::argument(const Written& word, std::string_view command, bool& wants_value) {
  std::string_view text = word.text.text;
  auto part = [&](size_t begin) { return value_part(word, begin); };
  for (std::string_view name : kOptions) {
    if (text == name) {
      wants_value = true;
      return true;
    }
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=') {
      std::string_view value = text.substr(name.size() + 1);
      if (!is_cuda_value(name, value, command)) return false;
      option(name, part(name.size() + 1), command);
      return true;
    }
  }
  if (text == "-D") {
    wants_value = true;
    return true;
  }
  // -DNAME:TYPE=VALUE, --repo_env=NAME=VALUE, -Ccmake.define.NAME=VALUE, NAME=VALUE
  bool definition = text.starts_with("-D");
  size_t begin = definition ? 2 : 0;
  size_t equals = text.find('=', begin);
  SettingForm form = definition ? SettingForm::definition : SettingForm::argument;
  if (equals == text.npos) return false;
  if (!definition && text.starts_with("-")) {
    size_t second = text.find('=', equals + 1);
    size_t dotted = text.substr(0, equals).rfind("cmake.define.");
    if (dotted != text.npos) {
      begin = dotted + 13;
      form = SettingForm::definition;
    } else if (second != text.npos && text.find("cmake.define.", equals) == equals + 1) {
      begin = equals + 14;
      equals = second;
      form = SettingForm::definition;
    } else if (second != text.npos &&
               is_variable_name(text.substr(equals + 1, second - equals - 1))) {
      begin = equals + 1;
      equals = second;
      form = SettingForm::environment;
    } else {
      // --compiler-options="-arch=sm_80", -Xcompiler=...: words of their own
      if (text.find(' ', equals) != text.npos && depth_ < kDeepest) flags(part(equals + 1).text);
      return false;
    }
  } else if (text.starts_with("cmake.define.")) {
    begin = 13;
    form = SettingForm::definition;
  }
  size_t colon = text.find(':', begin);
  size_t name_end = colon != text.npos && colon < equals && definition ? colon : equals;
  std::string_view name = text.substr(begin, name_end - begin);
  if (!is_variable_name(name)) return false;
  BuildSetting* setting = variable(
      name, part(equals + 1),
      {form, std::string(command), false, word.text.offset(begin), word.text.offset(name_end)});
  if (!setting) flags(part(equals + 1).text);
  return true;
}

// Commands that give what was built to others.
void Collector::note_publishing(const std::vector<Written>& list) {
  auto text_of = [&](size_t k) -> std::string_view {
    return k < list.size() ? std::string_view(list[k].text.text) : std::string_view();
  };
  for (size_t i = 0; i < list.size(); ++i) {
    std::string_view word = text_of(i), next = text_of(i + 1);
    bool push = (word == "docker" || word == "podman" || word == "buildah") && next == "push";
    bool upload = (word == "twine" || word == "anaconda") && next == "upload";
    bool publish = (word == "uv" || word == "poetry" || word == "hatch" || word == "flit") &&
                   next == "publish";
    if (push || upload || publish || program(word) == "cibuildwheel") publishes(list[i].text);
  }
}

} // namespace gpuvet
