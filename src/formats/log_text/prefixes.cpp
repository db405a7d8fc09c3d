#include "formats/log_text/prefixes.hpp"

#include <array>

namespace gpuvet {
namespace {

constexpr std::array kPrefixes = {
    LogPrefix{
        "#-#-#T#:#:#.#+#:# ~ kernel: ", "2024-05-01T12:00:00.123+02:00 host kernel: ", "rsyslog"},
    LogPrefix{"#-#-#T#:#:#+#:# ~ kernel: ", "2024-05-01T12:00:00+02:00 host kernel: ",
              "journalctl -o short-iso"},
    LogPrefix{"#-#-#T#:#:#+# ~ kernel: ", "2024-05-01T12:00:00+0200 host kernel: ",
              "journalctl -o short-iso"},
    LogPrefix{"#-#-#T#:#:#.#Z ", "2024-05-01T12:00:00.1234567Z ", "GitHub Actions, docker logs -t"},
    LogPrefix{"#-#-#T#:#:#Z ", "2024-05-01T12:00:00Z ", "Kubernetes"},
    LogPrefix{"#-#-#T#:#:#.#+#:# ", "2024-05-01T12:00:00.123+02:00 ", "journalctl -o short-iso"},
    LogPrefix{"#-#-#T#:#:#+#:# ", "2024-05-01T12:00:00+02:00 ", "journalctl -o short-iso"},
    LogPrefix{"#-#-#T#:#:#+# ", "2024-05-01T12:00:00+0200 ", "journalctl -o short-iso"},
    LogPrefix{"#-#-#T#:#:#.# ", "2024-05-01T12:00:00.123 ", "Python logging"},
    LogPrefix{"#-#-# #:#:#,# ", "2024-05-01 12:00:00,123 ", "Python logging"},
    LogPrefix{"#-#-# #:#:#.#: ", "2024-05-01 12:00:00.123456: ", "TensorFlow"},
    LogPrefix{"#-#-# #:#:#.# ", "2024-05-01 12:00:00.123456 ", "ONNX Runtime, loguru"},
    LogPrefix{"#-#-# #:#:# ", "2024-05-01 12:00:00 ", "many"},
    LogPrefix{"#/#/# #:#:# ", "2024/05/01 12:00:00 ", "Go"},
    LogPrefix{"[#-#-# #:#:#,#]", "[2024-05-01 12:00:00,123]", "DeepSpeed"},
    LogPrefix{"[#-#-# #:#:#.#]", "[2024-05-01 12:00:00.123]", "spdlog"},
    LogPrefix{"[#-#-# #:#:#]", "[2024-05-01 12:00:00]", "many"},
    LogPrefix{"[#-#-#T#:#:#.#Z] ", "[2024-05-01T12:00:00.123Z] ", "Jenkins"},
    LogPrefix{"[#:#:#] ", "[12:00:00] ", "many"},
    LogPrefix{"#:#:# ", "12:00:00 ", "many"},
    LogPrefix{"[ #.#] ", "[  123.456789] ", "dmesg"},
    LogPrefix{"[#.#] ", "[12345.678901] ", "dmesg"},
    LogPrefix{"[~ ~ # #:#:# #] ", "[Wed May  1 12:00:00 2024] ", "dmesg -T"},
    LogPrefix{"~ # #:#:# ~ kernel: ", "May  1 12:00:00 host kernel: ", "syslog"},
    LogPrefix{"~ # #:#:# ~ ~[#]: ", "May  1 12:00:00 host dockerd[812]: ", "syslog"},
    LogPrefix{"~ # #:#:#.# # ~:#] ", "I0501 12:00:00.123456 1234 file.cc:12] ",
              "glog with a blank"},
    LogPrefix{"~ #:#:#.# # ~:#] ", "I0501 12:00:00.123456 1234 file.cc:12] ", "glog"},
    LogPrefix{"[~ ~:#] ", "[W ProcessGroupNCCL.cpp:1234] ", "PyTorch"},
    LogPrefix{"[rank#]:[~ ~:#] ", "[rank0]:[W501 ProcessGroupNCCL.cpp:1234] ", "PyTorch"},
    LogPrefix{"[rank#]: ", "[rank0]: ", "torchrun"},
    LogPrefix{"[rank#]:", "[rank0]:", "torchrun"},
    LogPrefix{"[rank #]: ", "[rank 0]: ", "Lightning"},
    LogPrefix{"[default#]:", "[default0]:", "torchrun"},
    LogPrefix{"[#,#]<~>: ", "[1,0]<stderr>: ", "mpirun"},
    LogPrefix{"[#,#]<~>:", "[1,0]<stderr>:", "mpirun"},
    LogPrefix{"(~ pid=#, ip=~) ", "(RayWorkerWrapper pid=123, ip=10.0.0.1) ", "Ray"},
    LogPrefix{"(~ pid=#) ", "(RayWorkerWrapper pid=123) ", "Ray, vLLM"},
    LogPrefix{"(pid=#) ", "(pid=123) ", "Ray"},
    LogPrefix{"(pid=#, ip=~) ", "(pid=123, ip=10.0.0.1) ", "Ray"},
    LogPrefix{"`## #.# ", "#12 3.456 ", "BuildKit"},
    LogPrefix{"~-# | ", "trainer-1  | ", "docker compose"},
    LogPrefix{"#: ", "0: ", "srun --label"},
    LogPrefix{"E` `  ", "E   ", "pytest"},
    LogPrefix{"> ", "> ", "a quotation"},
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != 0 && std::string_view("_.-/").find(c) != std::string_view::npos);
}

size_t run_length(std::string_view text, bool (*belongs)(char)) {
  size_t length = 0;
  while (length < text.size() && belongs(text[length]))
    ++length;
  return length;
}

// A word gives back what the next character of the pattern needs ("trainer-1" for "~-#").
size_t word_length(std::string_view text, char next) {
  size_t length = run_length(text, is_word);
  if (!is_word(next) || next == 0) return length;
  size_t last = text.substr(0, length).rfind(next);
  return last == std::string_view::npos ? 0 : last;
}

size_t matched(std::string_view pattern, std::string_view line) {
  size_t at = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    std::string_view left = line.substr(at);
    size_t length = 0;
    if (pattern[i] == '#') {
      length = run_length(left, is_digit);
    } else if (pattern[i] == '~') {
      length = word_length(left, i + 1 < pattern.size() ? pattern[i + 1] : '\0');
    } else if (pattern[i] == ' ') {
      length = run_length(left, [](char c) { return c == ' '; });
    } else {
      if (pattern[i] == '`') ++i;
      length = left.starts_with(pattern[i]) ? 1 : 0;
    }
    if (length == 0) return 0;
    at += length;
  }
  return at;
}

} // namespace

std::span<const LogPrefix> log_prefixes() {
  return kPrefixes;
}

size_t prefix_length(std::string_view line) {
  for (const LogPrefix& prefix : kPrefixes)
    if (size_t length = matched(prefix.pattern, line)) return length;
  return 0;
}

} // namespace gpuvet
