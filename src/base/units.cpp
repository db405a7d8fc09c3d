#include "base/units.hpp"

#include <fmt/core.h>

namespace gpuvet {

std::string human_bytes(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char* units[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  for (value /= 1000; value >= 999.5 && unit < 5; value /= 1000)
    ++unit;
  int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

} // namespace gpuvet
