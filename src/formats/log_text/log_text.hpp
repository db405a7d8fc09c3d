// A log as people have it, to plain lines: colours, timestamps, rank and container prefixes are
// taken off, lines that JSON or Python escaped ("\n") are split again, and what a terminal wrapped
// in the middle of a literal is joined. Works on a stream of any length in constant memory: only
// lines that hold one of the given literals are looked at more closely, and the lines of the first
// megabytes, where people paste what machine they have. UTF-16 with a byte order mark is read too.
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

// One line without colours, timestamps and prefixes. `room` holds what had to be changed and must
// outlive the answer.
std::string_view plain_line(std::string_view raw, std::string& room);

class LogText {
 public:
  using Sink = std::function<void(const LogLine&)>; // the text is valid during the call only

  LogText(const LiteralSet& literals, Sink sink);
  void feed(std::string_view bytes); // pieces of any size
  void end();                        // gives the last line, which may have no line end

  uint64_t lines() const { return lines_; } // begun so far
  uint64_t bytes() const { return bytes_; }

 private:
  void narrow(std::string_view bytes);
  void take_lines(std::string_view text);
  void take_part(std::string_view text, bool whole_line);
  void take_line(std::string_view line);
  void give(std::string_view line, bool has_literal);
  void give_unwrapped(std::string_view line);

  const LiteralSet& literals_;
  Sink sink_;
  std::string rest_;     // the beginning of a line whose end was not fed yet
  std::string before_;   // the line before, in the head: the terminal may have wrapped it
  std::string narrowed_; // UTF-16 as single bytes
  uint64_t lines_ = 0, bytes_ = 0;
  bool in_line_ = false; // a part of the present line was given already
  enum class Wide : uint8_t { unknown, no, little, big } wide_ = Wide::unknown;
  bool half_ = false; // of a 16-bit unit, in half_byte_
  char half_byte_ = 0;
};

} // namespace gpuvet
