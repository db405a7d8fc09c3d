// Which GPU code a build made, as far as its log tells. Compilers get their targets command by
// command, and not every command has the same: so what counts is each different set of targets.
#pragma once

#include "base/compute_capability.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuvet {

struct LoggedTarget {
  Target target;
  bool ptx = false; // else machine code

  auto operator<=>(const LoggedTarget&) const = default;
};

struct LoggedSet {
  std::vector<LoggedTarget> targets; // ascending; empty: none named, so the compiler's default
  std::string word;                  // "native", "all": which targets those are depends
  std::string compiler;              // "nvcc", "clang", "ptxas"
  uint64_t commands = 0;
  uint64_t first_line = 0;
};

struct LoggedRemark {
  std::string text;
  uint64_t line = 0, times = 0;
};

struct BuildLog {
  std::vector<LoggedSet> sets;        // of compiler commands, in the order of their first line
  std::vector<LoggedSet> announced;   // flags that the build system printed, not commands
  std::vector<LoggedRemark> asked;    // "CMAKE_CUDA_ARCHITECTURES=75;86", different ones
  std::vector<LoggedRemark> detected; // what the build system took from this machine's GPU
  std::vector<LoggedRemark> refused;  // "Unsupported gpu architecture 'compute_120'"
  uint64_t silent_objects = 0;        // "Building CUDA object": compiled, but not how
  uint64_t first_silent_line = 0;
  uint64_t lines = 0, bytes = 0;
  bool cut = false; // more different sets or values than are kept
};

} // namespace gpuvet
