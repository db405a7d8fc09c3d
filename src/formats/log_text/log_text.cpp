#include "formats/log_text/log_text.hpp"

#include "formats/log_text/escapes.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kPart = 256 << 10; // bytes of a line without an end that are looked at together
constexpr size_t kOverlap = 256;    // bytes that parts share, longer than any literal
constexpr size_t kWrapped = 60;     // bytes that a line has at least where a terminal wraps it
constexpr size_t kBefore = 2048;    // bytes of the line before that are kept

} // namespace

LogText::LogText(const LiteralSet& literals, Sink sink)
    : literals_(literals), sink_(std::move(sink)) {}

// 16-bit units to single bytes: whatever is no Latin-1 character becomes a question mark.
void LogText::narrow(std::string_view bytes) {
  narrowed_.clear();
  for (char byte : bytes) {
    half_ = !half_;
    if (half_) {
      half_byte_ = byte;
      continue;
    }
    char low = wide_ == Wide::little ? half_byte_ : byte;
    char high = wide_ == Wide::little ? byte : half_byte_;
    narrowed_ += high == 0 ? low : '?';
  }
}

void LogText::feed(std::string_view bytes) {
  if (wide_ == Wide::unknown && !bytes.empty()) {
    wide_ = bytes.starts_with("\xff\xfe")   ? Wide::little
            : bytes.starts_with("\xfe\xff") ? Wide::big
                                            : Wide::no;
    if (wide_ != Wide::no) bytes.remove_prefix(2);
    if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  }
  if (wide_ == Wide::little || wide_ == Wide::big) {
    narrow(bytes);
    take_lines(narrowed_);
  } else {
    take_lines(bytes);
  }
}

void LogText::take_lines(std::string_view text) {
  if (!rest_.empty()) {
    size_t end = text.find('\n');
    size_t taken = end == std::string_view::npos ? text.size() : end;
    // A line of any length in pieces of bounded ones.
    while (rest_.size() + taken > kPart) {
      size_t some = kPart > rest_.size() ? kPart - rest_.size() : 0;
      rest_.append(text.substr(0, some));
      take_part(rest_, false);
      rest_.erase(0, rest_.size() - std::min(rest_.size(), kOverlap));
      bytes_ -= rest_.size(); // counted again with the next part
      text.remove_prefix(some);
      taken -= some;
    }
    rest_.append(text.substr(0, taken));
    if (end == std::string_view::npos) return;
    take_part(rest_, true);
    rest_.clear();
    text.remove_prefix(taken + 1);
  }
  size_t whole = text.rfind('\n');
  whole = whole == std::string_view::npos ? 0 : whole + 1;
  std::string_view lines = text.substr(0, whole);
  // In the head each line; behind it only those with a literal, found without looking at lines.
  while (!lines.empty() && bytes_ < kLogHead) {
    size_t end = lines.find('\n');
    take_part(lines.substr(0, end), true);
    lines.remove_prefix(end + 1);
  }
  while (!lines.empty()) {
    size_t at = literals_.find(lines);
    std::string_view skipped = lines.substr(0, at);
    size_t begin = at == std::string_view::npos ? std::string_view::npos : skipped.rfind('\n');
    begin = at == std::string_view::npos ? lines.size() : begin + 1; // npos + 1 is 0
    lines_ += static_cast<uint64_t>(std::count(lines.begin(), lines.begin() + begin, '\n'));
    bytes_ += begin;
    lines.remove_prefix(begin);
    if (lines.empty()) break;
    size_t end = lines.find('\n');
    take_part(lines.substr(0, end), true);
    lines.remove_prefix(end + 1);
  }
  rest_ = text.substr(whole);
  if (rest_.size() > kPart) { // a piece that was all one line: in parts, as above
    std::string piece;
    piece.swap(rest_);
    rest_ = piece.substr(0, 1);
    take_lines(std::string_view(piece).substr(1));
  }
}

// A line, or a part of one that is too long to be kept.
void LogText::take_part(std::string_view text, bool whole_line) {
  if (!in_line_) ++lines_;
  in_line_ = !whole_line;
  bytes_ += text.size() + (whole_line ? 1 : 0);
  if (text.ends_with('\r')) text.remove_suffix(1);
  // A progress bar writes over itself.
  for (size_t end = 0; (end = text.find('\r')) != std::string_view::npos;) {
    take_line(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  take_line(text);
}

void LogText::take_line(std::string_view line) {
  if (bytes_ < kLogHead) give_unwrapped(line);
  size_t at = literals_.find(line);
  if (at == std::string_view::npos) {
    if (bytes_ < kLogHead) give(line.substr(0, kLongestLogLine), false);
    return;
  }
  if (is_escaped(line)) {
    std::string text;
    unescape(line, text);
    std::string_view left = text;
    while (!left.empty()) {
      size_t end = std::min(left.find('\n'), left.size());
      std::string_view part = left.substr(0, end);
      if (bool found = literals_.find(part) != std::string_view::npos; found || bytes_ < kLogHead)
        give(part.substr(0, kLongestLogLine), found);
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    return;
  }
  while (at != std::string_view::npos) {
    // A long line: a window around the literal, as much before it as fits beside what follows.
    size_t begin = at > kLongestLogLine / 2 ? at - kLongestLogLine / 2 : 0;
    if (line.size() <= kLongestLogLine) begin = 0;
    std::string_view window = line.substr(begin, kLongestLogLine);
    give(window, true);
    size_t next = begin + window.size();
    at = next < line.size() ? literals_.find(line, std::max(next, at + 1)) : std::string_view::npos;
  }
}

// Where a literal runs over the end of the line before.
void LogText::give_unwrapped(std::string_view line) {
  if (before_.size() >= kWrapped && !line.empty()) {
    size_t from = before_.size() - std::min(before_.size(), kOverlap);
    std::string_view begin = line.substr(0, kOverlap);
    for (const char* between : {"", " "}) {
      std::string joined = before_.substr(from) + between + std::string(begin);
      size_t seam = before_.size() - from;
      for (size_t at = literals_.find(joined); at < seam; at = literals_.find(joined, at + 1)) {
        // Both halves of the literal are needed: not in what stands before the seam alone.
        std::string_view left = std::string_view(joined).substr(at, seam - at);
        if (literals_.find(left) == 0 || joined.size() <= seam) continue;
        give(before_ + between + std::string(line.substr(0, kLongestLogLine / 2)), true);
        before_ = line.substr(0, kBefore);
        return;
      }
    }
  }
  before_ = line.size() > kBefore ? std::string() : std::string(line);
}

void LogText::give(std::string_view line, bool has_literal) {
  std::string room;
  std::string_view plain = plain_line(line, room);
  if (plain.empty()) return;
  sink_({plain, lines_, has_literal});
}

void LogText::end() {
  if (!rest_.empty()) take_part(rest_, true);
  rest_.clear();
}

} // namespace gpuvet
