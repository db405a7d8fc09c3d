#include "gpu/work/telling.hpp"

#include "gpu/text.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr double kProgressEvery_s = 0.05;
constexpr size_t kLongestText = 16 * 1024; // bytes: the log of the driver's compiler fits

// Blanks part the words of a line.
std::string one_word(std::string_view text) {
  std::string word(text);
  for (char& c : word)
    if (c == ' ' || c == '\n') c = '_';
  return word.empty() ? "-" : word;
}

std::string number_text(double value) {
  return fmt::format("{}", value); // the shortest text that reads back as the same number
}

bool next_word(std::string_view& text, std::string& to) {
  size_t blank = text.find(' ');
  if (blank == 0 || blank == std::string_view::npos) return false;
  to = text.substr(0, blank);
  text.remove_prefix(blank + 1);
  return true;
}

void take_end(const StepLine& line, StepResult& result) {
  result.state = line.a == "unsupported" ? StepState::unsupported : StepState::failed;
  result.call = line.b == "-" ? "" : line.b;
  size_t equals = line.c.find('=');
  std::string_view code = std::string_view(line.c).substr(0, equals);
  std::from_chars(code.data(), code.data() + code.size(), result.code);
  if (equals != std::string::npos) result.error = line.c.substr(equals + 1);
  result.reason = line.text;
}

} // namespace

void StepTeller::line(char kind, std::string_view a, std::string_view b, std::string_view c,
                      std::string_view text) {
  waiting_ += fmt::format("{} {} {} {} {}\n", kind, one_word(a), one_word(b), one_word(c),
                          escaped(text.substr(0, kLongestText)));
}

void StepTeller::send() {
  std::string_view left = waiting_;
  while (!left.empty()) {
    ssize_t wrote = write(fd_, left.data(), left.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break; // the parent is gone, and this process goes with it
    left.remove_prefix(static_cast<size_t>(wrote));
  }
  waiting_.clear();
}

void StepTeller::begin(const char* step) {
  line('b', step, "-", "-", number_text(seconds()));
  last_call_ = "-";
  last_progress_s_ = -1;
  send();
}

void StepTeller::ready() {
  line('g', "-", "-", "-", number_text(seconds()));
  send();
}

void StepTeller::about_to_call(const char* call) {
  if (last_call_ != call) last_call_ = call;
  line('c', call, "-", "-", number_text(seconds()));
  send();
}

void StepTeller::reading(std::string_view name, std::string_view unit, double value) {
  line('r', name, unit, "-", number_text(value));
  send();
}

void StepTeller::word(std::string_view name, std::string_view text) {
  line('w', name, "-", "-", text);
  send();
}

void StepTeller::progress(double fraction, std::string_view name, double value,
                          std::string_view unit) {
  double now = seconds();
  if (last_progress_s_ >= 0 && now - last_progress_s_ < kProgressEvery_s) return;
  last_progress_s_ = now;
  line('p', name, unit, number_text(fraction), number_text(value));
  send();
}

void StepTeller::stopped(StepState state, std::string_view call, int code, std::string_view error,
                         std::string_view reason) {
  line('x', state == StepState::unsupported ? "unsupported" : "failed", call,
       error.empty() ? fmt::format("{}", code) : fmt::format("{}={}", code, error), reason);
  send();
}

void StepTeller::done() {
  line('d', "-", "-", "-", number_text(seconds()));
  send();
}

std::optional<StepLine> parse_step_line(std::string_view text) {
  StepLine line;
  std::string kind;
  if (!next_word(text, kind) || kind.size() != 1) return std::nullopt;
  line.kind = kind[0];
  for (std::string* word : {&line.a, &line.b, &line.c})
    if (!next_word(text, *word)) return std::nullopt;
  line.text = unescaped(text);
  return line;
}

std::vector<StepLine> take_step_lines(std::string& text) {
  std::vector<StepLine> lines;
  size_t begin = 0;
  for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (auto line = parse_step_line(std::string_view(text).substr(begin, end - begin)))
      lines.push_back(std::move(*line));
  text.erase(0, begin);
  return lines;
}

std::optional<double> number_of(const StepLine& line) {
  double number = 0;
  const char* end = line.text.data() + line.text.size();
  auto [stop, error] = std::from_chars(line.text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

void take_step_line(const StepLine& line, StepResult& result) {
  if (line.kind == 'x') return take_end(line, result);
  if (line.kind == 'w') {
    result.words[line.a] = line.text;
    return;
  }
  if (line.kind != 'r') return;
  if (auto number = number_of(line)) {
    Reading& reading = result.readings[line.a];
    reading.unit = line.b;
    reading.samples.push_back(*number);
    return;
  }
  result.state = StepState::failed;
  result.reason = fmt::format("the measurement of {} came out as {}", line.a, line.text);
}

} // namespace gpuvet
