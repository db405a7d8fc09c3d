// Which lines of a kernel log bear on GPUs, and how many of them are kept: a driver can print the
// same line hundreds of thousands of times.
#pragma once

#include "base/regex.hpp"
#include "model/machine/kernel_side.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuvet {

// The ways in which kernel lines are written down. nullopt: not a line of the kernel.
std::optional<LogLine> kmsg_line(std::string_view record);  // "6,339,5140900,-;text\n KEY=..."
std::optional<LogLine> dmesg_line(std::string_view line);   // "[   12.345678] text"
std::optional<LogLine> journal_line(std::string_view line); // "[   12.345678] host kernel: text"
std::optional<LogLine> syslog_line(std::string_view line);  // "... host kernel: [ 12.3] text"

class LogLines {
 public:
  LogLines();

  void add(LogLine line);

  // Lines in order of arrival, those of one kind thinned out; empties this object.
  KernelLog take(const std::string& from);

 private:
  struct Kept {
    uint64_t order = 0;
    LogLine line;
  };
  struct Kind { // lines that differ in numbers only
    std::vector<Kept> first;
    std::deque<Kept> last;
    uint64_t left_out = 0;
  };

  std::optional<Regex> relevant_;
  std::unordered_map<uint64_t, Kind> kinds_; // by hash of the line without its numbers
  uint64_t order_ = 0, left_out_ = 0;
  size_t kept_ = 0;
};

} // namespace gpuvet
