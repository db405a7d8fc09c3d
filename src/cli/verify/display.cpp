#include "cli/verify/display.hpp"

#include "render/terminal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

namespace gpuvet {
namespace {

constexpr int kBar = 24;             // columns
constexpr double kEvery_s = 0.1;     // more often is not seen
constexpr double kNotYetDone = 0.99; // the end is told by the report, not by a full bar

} // namespace

std::string progress_line(double fraction, const std::string& where, const StepNews& news,
                          std::optional<double> limit, int width) {
  const int full = static_cast<int>(std::clamp(fraction, 0.0, kNotYetDone) * kBar);
  std::string line = "[" + std::string(static_cast<size_t>(full), '#') +
                     std::string(static_cast<size_t>(kBar - full), '-') + "] " + news.step;
  if (!where.empty()) line += "  " + printable(where);
  if (!news.unit.empty()) {
    line += fmt::format("  {:.4g}", news.value);
    if (limit) line += fmt::format(" of {:.4g}", *limit);
    line += " " + news.unit;
  }
  if (line.size() > static_cast<size_t>(width)) line.resize(static_cast<size_t>(width));
  return line;
}

VerifyDisplay::VerifyDisplay(const Terminal& terminal, Moment start, double seconds)
    : terminal_(terminal), start_(start), shown_at_(start), seconds_(seconds) {}

void VerifyDisplay::show(const std::string& where, const StepNews& news,
                         std::optional<double> limit) {
  std::lock_guard lock(mutex_);
  if (!terminal_.interactive || seconds_since(shown_at_) < kEvery_s) return;
  shown_at_ = std::chrono::steady_clock::now();
  shown_ = true;
  const double fraction = seconds_ > 0 ? seconds_since(start_) / seconds_ : 0;
  std::fprintf(stderr, "\r\x1b[K%s",
               progress_line(fraction, where, news, limit, terminal_.width - 1).c_str());
  std::fflush(stderr);
}

void VerifyDisplay::clear() {
  std::lock_guard lock(mutex_);
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

} // namespace gpuvet
