#include "formats/buildlog/build_log_reader.hpp"

#include "base/text.hpp"
#include "formats/buildfile/shell_words.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20; // bytes; what is longer is no command
constexpr size_t kMostDifferent = 500;           // sets, values

// What one command makes.
struct Command {
  std::vector<LoggedTarget> targets;
  std::vector<std::string> codes; // of -code
  std::string arch, word, compiler;
  bool names_any = false, all_ptx = false;
};

std::string_view program(std::string_view word) {
  size_t slash = word.find_last_of("/\\");
  std::string_view name = slash == word.npos ? word : word.substr(slash + 1);
  if (name.ends_with(".exe")) name.remove_suffix(4);
  return name;
}

void add_target(Command& command, std::string_view text) {
  bool ptx = text.starts_with("compute_");
  if (!ptx && !text.starts_with("sm_")) return;
  auto target = parse_target(text);
  if (target) command.targets.push_back({*target, ptx});
}

std::vector<std::string> code_list(std::string_view text) {
  std::vector<std::string> list;
  for (std::string part : split_at(text, ',')) {
    std::erase_if(
        part, [](char c) { return c == '[' || c == ']' || c == '"' || c == '\'' || c == '\\'; });
    list.push_back(std::string(trimmed(part)));
  }
  return list;
}

// arch=compute_80,code=[sm_80,compute_80]
void add_gencode(Command& command, std::string_view value) {
  size_t code = value.find("code=");
  command.names_any = true;
  if (code == value.npos) return;
  for (const std::string& one : code_list(value.substr(code + 5)))
    add_target(command, one);
}

// The value of an option as "-x=value" or in the next word.
std::string_view value_of(const std::vector<std::string>& words, size_t i, std::string_view name) {
  std::string_view word = words[i];
  if (word == name && i + 1 < words.size()) return words[i + 1];
  if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
    return word.substr(name.size() + 1);
  return {};
}

void take_option(Command& command, const std::vector<std::string>& words, size_t i) {
  for (std::string_view name : {"-gencode", "--generate-code", "-generate-code"})
    if (std::string_view value = value_of(words, i, name); value.starts_with("arch="))
      return add_gencode(command, value);
  for (std::string_view name : {"-arch", "--gpu-architecture", "-gpu-architecture"})
    if (std::string_view value = value_of(words, i, name); !value.empty()) {
      command.names_any = true;
      if (value == "native" || value == "all" || value == "all-major")
        command.word = value;
      else
        command.arch = value;
      return;
    }
  for (std::string_view name : {"-code", "--gpu-code", "-gpu-code"})
    if (std::string_view value = value_of(words, i, name); !value.empty()) {
      command.codes = code_list(value);
      return;
    }
  if (std::string_view value = value_of(words, i, "-target-cpu"); value.starts_with("sm_")) {
    command.compiler = "clang -cc1"; // a step for one target
    return add_target(command, value);
  }
  if (std::string_view value = value_of(words, i, "--cuda-include-ptx"); !value.empty()) {
    if (value == "all")
      command.all_ptx = true;
    else if (value.starts_with("sm_"))
      add_target(command, "compute_" + std::string(value.substr(3)));
    return;
  }
  for (std::string_view name : {"--cuda-gpu-arch", "--offload-arch"})
    if (std::string_view value = value_of(words, i, name); !value.empty()) {
      command.names_any = true;
      for (const std::string& one : code_list(value))
        if (one == "native")
          command.word = one;
        else
          add_target(command, one);
      return;
    }
}

void finish_command(Command& command) {
  if (!command.arch.empty() && command.codes.empty()) {
    // -arch=sm_80 stands for compute_80 with code sm_80 and compute_80.
    add_target(command, command.arch);
    if (command.arch.starts_with("sm_")) add_target(command, "compute_" + command.arch.substr(3));
  }
  for (const std::string& code : command.codes)
    add_target(command, code);
  if (command.all_ptx)
    for (size_t i = 0, count = command.targets.size(); i < count; ++i)
      command.targets.push_back({command.targets[i].target, true});
  std::sort(command.targets.begin(), command.targets.end());
  command.targets.erase(std::unique(command.targets.begin(), command.targets.end()),
                        command.targets.end());
}

// fatbinary: --image3=kind=elf,sm=80,file=..., --image=profile=compute_80,file=...
void take_image(Command& command, std::string_view word) {
  if (!word.starts_with("--image")) return;
  size_t sm = word.find("sm=");
  if (word.find("kind=elf") != word.npos && sm != word.npos)
    add_target(command, "sm_" + std::string(word.substr(sm + 3, word.find(',', sm) - sm - 3)));
  if (word.find("kind=ptx") != word.npos && sm != word.npos)
    add_target(command, "compute_" + std::string(word.substr(sm + 3, word.find(',', sm) - sm - 3)));
  if (size_t profile = word.find("profile="); profile != word.npos)
    add_target(command, word.substr(profile + 8, word.find(',', profile) - profile - 8));
  command.names_any = true;
}

bool is_source(std::string_view word) {
  return word.ends_with(".cu") || word.ends_with(".cu.cc") || word.ends_with(".cuh");
}

void add_set(BuildLog& log, std::vector<LoggedSet>& sets, Command command) {
  finish_command(command);
  for (LoggedSet& set : sets)
    if (set.targets == command.targets && set.word == command.word &&
        set.compiler == command.compiler) {
      ++set.commands;
      return;
    }
  if (sets.size() >= kMostDifferent) {
    log.cut = true;
    return;
  }
  sets.push_back({std::move(command.targets), std::move(command.word), std::move(command.compiler),
                  1, log.lines});
}

void remark(BuildLog& log, std::vector<LoggedRemark>& list, std::string_view text) {
  text = trimmed(text);
  for (LoggedRemark& one : list)
    if (one.text == text) {
      ++one.times;
      return;
    }
  if (list.size() < kMostDifferent)
    list.push_back({std::string(text.substr(0, 400)), log.lines, 1});
  else
    log.cut = true;
}

// Variables and options that ask for architectures; the value ends at the word.
constexpr std::array<std::string_view, 9> kAsking = {"CMAKE_CUDA_ARCHITECTURES",
                                                     "CUDAARCHS",
                                                     "TORCH_CUDA_ARCH_LIST",
                                                     "TF_CUDA_COMPUTE_CAPABILITIES",
                                                     "HERMETIC_CUDA_COMPUTE_CAPABILITIES",
                                                     "CUDA_ARCH_BIN",
                                                     "CUDA_ARCH_PTX",
                                                     "FLASH_ATTN_CUDA_ARCHS",
                                                     "MXNET_CUDA_ARCH"};

void take_asked(BuildLog& log, std::string_view line) {
  for (std::string_view name : kAsking) {
    size_t at = line.find(name);
    if (at == line.npos) continue;
    std::string_view rest = line.substr(at + name.size());
    if (rest.starts_with(":STRING") || rest.starts_with(":UNINITIALIZED"))
      rest = rest.substr(rest.find('=', 1) == rest.npos ? rest.size() : rest.find('='));
    bool equals = rest.starts_with('='), colon = rest.starts_with(':');
    if (!equals && !colon) continue;
    rest.remove_prefix(1);
    if (colon) rest = trimmed(rest);
    bool quoted = rest.starts_with('"') || rest.starts_with('\'');
    char quote = quoted ? rest.front() : ' ';
    if (quoted) rest.remove_prefix(1);
    std::string_view value = colon && !quoted ? rest : rest.substr(0, rest.find(quote));
    while (value.ends_with('"') || value.ends_with('\''))
      value.remove_suffix(1);
    if (!value.empty() && value.find_first_of("0123456789") != value.npos &&
        value.find('$') == value.npos)
      remark(log, log.asked, std::string(name) + "=" + std::string(value));
    return;
  }
}

bool take_refusal(BuildLog& log, std::string_view line) {
  for (std::string_view text :
       {"Unsupported gpu architecture", "Unknown CUDA arch",
        "is not defined for option 'gpu-architecture'", "unsupported CUDA gpu architecture"})
    if (line.find(text) != line.npos) {
      remark(log, log.refused, line);
      return true;
    }
  return false;
}

void take_detection(BuildLog& log, std::string_view line) {
  for (std::string_view text : {"Automatic GPU detection", "Autodetected CUDA architecture",
                                "TORCH_CUDA_ARCH_LIST is not set"})
    if (size_t at = line.find(text); at != line.npos) remark(log, log.detected, line.substr(at));
}

// Without terminal sequences (ESC [ ... letter). What else stands before a command, such as a
// timestamp, is a word like others.
std::string_view without_colours(std::string_view line, std::string& room) {
  if (line.find('\x1b') == line.npos) return line;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      room += line[i];
      continue;
    }
    size_t end = line.find_first_not_of("[0123456789;?", i + 1);
    i = end == line.npos ? line.size() : end;
  }
  return room;
}

// Is it worth being cut into words?
bool is_candidate(std::string_view line) {
  for (std::string_view part : {"arch", "code=", "nvcc", "--image", "sm_"})
    if (line.find(part) != line.npos) return true;
  return false;
}

void take_words(BuildLog& log, std::string_view line) {
  MappedText text;
  text.text = line;
  // CMake lists print as "-gencode;arch=compute_80,code=sm_80".
  bool list = line.find("-gencode;") != line.npos;
  if (list) std::replace(text.text.begin(), text.text.end(), ';', ' ');
  text.from.assign(text.text.size(), 0);
  // Several commands may stand in one line: "cd x && nvcc ...".
  for (const ShellCommand& shell :
       shell_commands(text, list ? ShellDialect::words : ShellDialect::log)) {
    std::vector<std::string> words;
    for (const ShellWord& word : shell.words)
      words.push_back(word.text);
    Command command;
    bool compiles = false, verbose = false, front_end = false;
    for (size_t i = 0; i < words.size(); ++i) {
      std::string_view name = program(words[i]);
      if (command.compiler.empty()) {
        if (name == "nvcc" || name == "ptxas" || name == "fatbinary" || name == "cicc")
          command.compiler = name;
        else if (name.starts_with("clang") || name.find("crosstool_wrapper") != name.npos)
          command.compiler = "clang";
        verbose |= command.compiler == "ptxas" || command.compiler == "cicc";
      }
      front_end |= words[i] == "-cc1" || words[i] == "nvlink" || name == "nvlink";
      compiles |= is_source(words[i]) || words[i] == "-x" || words[i] == "-c" || words[i] == "-dc";
      take_option(command, words, i);
      take_image(command, words[i]);
    }
    if (front_end && !command.compiler.starts_with("clang")) continue;
    if (command.compiler == "cicc") continue; // PTX on the way to machine code
    if (verbose) {                            // ptxas -arch=sm_80 makes machine code only
      Command machine;
      machine.compiler = "ptxas";
      add_target(machine, command.arch);
      if (!machine.targets.empty()) add_set(log, log.sets, std::move(machine));
      continue;
    }
    bool named = command.names_any || !command.codes.empty();
    if (command.compiler.empty()) {
      command.compiler = "flags";
      bool gencode = !command.targets.empty() && line.find("code=") != line.npos;
      if (gencode) add_set(log, log.announced, std::move(command));
      continue;
    }
    bool clang_target = command.compiler.starts_with("clang") && !command.targets.empty();
    bool nvcc_target = command.compiler == "nvcc" && (named || compiles);
    bool images = command.compiler == "fatbinary" && !command.targets.empty();
    if (clang_target || nvcc_target || images || !command.word.empty())
      add_set(log, log.sets, std::move(command));
  }
}

// Steps for one target each, of which nobody can say which belong together.
void join_steps(std::vector<LoggedSet>& sets) {
  std::vector<LoggedSet> joined_sets;
  for (LoggedSet& set : sets) {
    auto same = std::find_if(joined_sets.begin(), joined_sets.end(), [&](const LoggedSet& other) {
      return other.compiler == set.compiler && !other.targets.empty() && !set.targets.empty();
    });
    if (same == joined_sets.end()) {
      joined_sets.push_back(std::move(set));
      continue;
    }
    same->targets.insert(same->targets.end(), set.targets.begin(), set.targets.end());
    std::sort(same->targets.begin(), same->targets.end());
    same->targets.erase(std::unique(same->targets.begin(), same->targets.end()),
                        same->targets.end());
    same->commands += set.commands;
  }
  sets = std::move(joined_sets);
}

// A verbose run shows a compiler's command and then its steps, each for one target. The command
// says it all; without one, what goes into the fat binary does.
void keep_whole_commands(std::vector<LoggedSet>& sets) {
  auto any = [&](auto is) { return std::any_of(sets.begin(), sets.end(), is); };
  auto is_step = [](const LoggedSet& set) {
    return set.compiler == "ptxas" || set.compiler == "fatbinary" || set.compiler == "clang -cc1";
  };
  bool commands = any([&](const LoggedSet& set) { return !is_step(set) && !set.targets.empty(); });
  bool images = any([](const LoggedSet& set) { return set.compiler == "fatbinary"; });
  if (commands)
    std::erase_if(sets, is_step);
  else if (images)
    std::erase_if(sets, [](const LoggedSet& set) { return set.compiler != "fatbinary"; });
  else
    join_steps(sets);
}

} // namespace

void BuildLogReader::take(std::string_view raw) {
  ++log_.lines;
  if (raw.ends_with('\r')) raw.remove_suffix(1);
  bool silent = raw.find("Building CUDA object") != raw.npos ||
                raw.find("Building NVCC (Device) object") != raw.npos;
  if (silent && log_.silent_objects++ == 0) log_.first_silent_line = log_.lines;
  bool interesting = is_candidate(raw) || raw.find("ARCH") != raw.npos ||
                     raw.find("CAPABILITIES") != raw.npos || raw.find("GPU detection") != raw.npos;
  if (!interesting) return;
  std::string room;
  std::string_view line = without_colours(raw, room);
  if (take_refusal(log_, line)) return;
  take_detection(log_, line);
  take_asked(log_, line);
  if (is_candidate(line)) take_words(log_, line);
}

void BuildLogReader::feed(std::string_view bytes) {
  log_.bytes += bytes.size();
  while (!bytes.empty()) {
    size_t end = bytes.find('\n');
    std::string_view piece = bytes.substr(0, end);
    if (!skipping_)
      rest_ += piece.substr(0, kLongestLine + 1 - std::min(kLongestLine + 1, rest_.size()));
    if (rest_.size() > kLongestLine) {
      skipping_ = true;
      rest_.clear();
    }
    if (end == bytes.npos) return;
    if (skipping_)
      ++log_.lines;
    else
      take(rest_);
    rest_.clear();
    skipping_ = false;
    bytes.remove_prefix(end + 1);
  }
}

BuildLog BuildLogReader::finish() {
  if (!rest_.empty() && !skipping_) take(rest_);
  rest_.clear();
  keep_whole_commands(log_.sets);
  return std::move(log_);
}

} // namespace gpuvet
