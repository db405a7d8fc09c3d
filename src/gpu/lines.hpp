// What the asking child tells its parent: a line before each call and one per answer, so that all
// that was said stays valid when the child hangs or dies, and half a line is no line.
//
//   c GPU CALL MICROSECONDS   about to call; GPU is "-" where none in particular is asked about
//   v GPU FIELD =TEXT         an answer, or with !CODE the error that came instead
//   n - - NUMBER              so many GPUs will be asked
//   d GPU - -                 this one is done
//   s - - STATE               it goes no further: "failed", "no_library"
//   e - - MICROSECONDS        the end
#pragma once

#include "model/machine/gpu_answers.hpp"
#include "os/child.hpp"

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace gpuvet {

inline constexpr int kNoGpu = -1;
inline constexpr int kNotAsked = -1;  // in place of an error code
inline constexpr int kMostGpus = 256; // no machine has so many; a broken library may claim more

struct Line {
  char kind = 0;
  int gpu = kNoGpu;
  std::string_view name;
  std::string value; // with '=' or '!' in front for kind 'v'
};

std::optional<Line> parse_line(std::string_view text); // without line feed

// --- values as text --------------------------------------------------------------------------

std::string to_text(const std::string& value);
std::string to_text(const std::vector<NvmlProcess>& value);
std::string to_text(double value);
template <std::integral T> std::string to_text(T value) {
  return std::to_string(value);
}

bool from_text(std::string_view text, std::string& to);
bool from_text(std::string_view text, std::vector<NvmlProcess>& to);
bool from_text(std::string_view text, double& to);
bool from_text(std::string_view text, bool& to);

template <std::integral T> bool from_text(std::string_view text, T& to) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

// --- the child's side ------------------------------------------------------------------------

class Teller {
 public:
  Teller(int fd, Moment start) : fd_(fd), start_(start) {}

  // Everything said so far is with the parent before the call is made.
  void about_to_call(int gpu, const char* call);
  void gpus(uint64_t number) { line('n', kNoGpu, "-", to_text(number)); }
  void done(int gpu) { line('d', gpu, "-", "-"); }
  void stop(const char* state);
  void end();

  template <class T> void answer(int gpu, const char* field, const T& value) {
    line('v', gpu, field, "=" + to_text(value));
  }
  template <class T> void answer(int gpu, const char* field, int code, const T& value) {
    line('v', gpu, field, code == 0 ? "=" + to_text(value) : "!" + to_text(code));
  }

 private:
  void line(char kind, int gpu, std::string_view name, std::string_view value);
  void send();

  int fd_;
  Moment start_;
  std::string waiting_;
};

// --- the parent's side -----------------------------------------------------------------------

// Puts a 'v' line's value into the field of that name: for `fields(take, struct)`.
struct TakeValue {
  std::string_view name, value;

  template <class T> void operator()(std::string_view field, NvmlValue<T>& to) const {
    if (field != name || value.empty()) return;
    T read{};
    int code = 0;
    if (value[0] == '=' && from_text(value.substr(1), read)) to = {read, 0};
    if (value[0] == '!' && from_text(value.substr(1), code)) to = {std::nullopt, code};
  }
  template <class T> void operator()(std::string_view field, std::optional<T>& to) const {
    T read{};
    if (field == name && value.starts_with('=') && from_text(value.substr(1), read)) to = read;
  }
  template <class T>
  requires(std::is_arithmetic_v<T> || std::same_as<T, std::string>) void
  operator()(std::string_view field, T& to) const {
    T read{};
    if (field == name && value.starts_with('=') && from_text(value.substr(1), read)) to = read;
  }
  // What is put together from the lines as a whole.
  void operator()(std::string_view, Asked&) const {}
  void operator()(std::string_view, AskState&) const {}
  void operator()(std::string_view, std::vector<NvmlGpu>&) const {}
  void operator()(std::string_view, std::vector<CudaDevice>&) const {}
};

} // namespace gpuvet
