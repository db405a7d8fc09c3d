#include "judge/oom/words.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>

namespace gpuvet {

std::string size_text(double bytes) {
  constexpr std::array<const char*, 7> names = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  double value = bytes;
  while (std::fabs(value) >= 1024 && unit + 1 < names.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0 || value == std::floor(value)) return fmt::format("{:.0f} {}", value, names[unit]);
  return fmt::format("{:.2f} {}", value, names[unit]);
}

} // namespace gpuvet
