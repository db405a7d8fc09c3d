// A log as people have it, to plain lines: colours, timestamps, rank and container prefixes are taken
// off, lines that JSON or Python escaped ("\n") are split again. Works on a stream of any length in
// constant memory: only lines that hold one of the given literals are looked at more closely, and the
// lines of the first megabytes, where people paste what machine they have.
#pragma once

#include "base/literal_set.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct LogLine {
  std::string_view text; // plain; at most kLongestLogLine bytes around the first literal
  uint64_t number = 0;   // of the line in the input, from 1
  bool has_literal = false;
};

constexpr size_t kLongestLogLine = 8192;
constexpr size_t kLogHead = 4 << 20; // bytes at the start whose lines are all given

// One line without colours, timestamp, prefixes; wrapping quotes and escapes undone. `room` holds
// what had to be changed and must outlive the answer.
std::string_view plain_line(std::string_view raw, std::string& room);

class LogText {
 public:
  using Sink = std::function<void(const LogLine&)>; // the text is valid during the call only

  LogText(const LiteralSet& literals, Sink sink);
  void feed(std::string_view bytes); // pieces of any size
  void end();                        // gives the last line, which may have no line end

  uint64_t lines() const; // so far
  uint64_t bytes() const;

 private:
  void take(std::string_view line);

  const LiteralSet& literals_;
  Sink sink_;
  std::string rest_; // the beginning of a line whose end was not fed yet
  uint64_t lines_ = 0, bytes_ = 0;
};

} // namespace gpuvet
