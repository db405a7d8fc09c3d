// Compute capability, the number that decides whether GPU code loads. NVIDIA writes it 8.6 for a
// device, sm_86 for machine code (SASS) and compute_86 for PTX; all are the integer 86 here (10 x
// major + minor), as in the fat binary's entry header.
//
// A code target can carry a suffix: 'a' = architecture-specific, runs on that capability only;
// 'f' = family-specific, runs within the family of CUDA's table; none = the portable rules.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuvet {

struct Target {
  uint32_t sm = 0; // 86, 90, 121
  char suffix = 0; // 'a', 'f' or 0

  auto operator<=>(const Target&) const = default;
};

constexpr uint32_t cc_major(uint32_t sm) {
  return sm / 10;
}
constexpr uint32_t cc_minor(uint32_t sm) {
  return sm % 10;
}

std::string sm_name(Target target);      // "sm_90a"
std::string compute_name(Target target); // "compute_90a"
std::string cc_name(uint32_t sm);        // "9.0"

// What people type for a device or a target: 8.6, 86, sm_86, SM86, compute_90a, 9.0a, 12.0f.
// nullopt for anything else.
std::optional<Target> parse_target(std::string_view text);

} // namespace gpuvet
