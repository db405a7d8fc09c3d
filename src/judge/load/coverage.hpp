// Does a whole file run on a GPU? Containers load one by one, so the answer is over all of them:
//
//   full      each has an image that loads
//   variants  the ones that do not load are variants for other GPUs, which the program picks itself
//   partial   some kernels have no code for the GPU: they fail if launched, not at start
//   none      nothing loads
//
// A container counts as a variant when all its machine code is architecture-specific (`a`, `f`), or
// when its kernels' own names say which architecture they are for, or when the program loads it by
// address and something else in the same place serves the GPU, or when the file is one of the
// libraries that are known to choose kernels by the GPU.
#pragma once

#include "judge/load/load.hpp"

#include <string>
#include <vector>

namespace gpuvet {

enum class Coverage { full, variants, partial, may_fail, none, no_code };

// Containers that fail for the same reason, together.
struct Shortfall {
  std::string reason; // why nothing fits
  int error = 0;      // CUDA error that the program sees
  size_t containers = 0;
  std::vector<std::string> kernels; // mangled, where names were read; at most kMaxKernels
  std::vector<std::string> places;  // members or offsets of the first few
  bool variant = false;
};

constexpr size_t kMaxShortfallKernels = 1000;

struct FileVerdict {
  Coverage coverage = Coverage::no_code;
  size_t native = 0, same_major = 0, jit = 0, linked = 0; // containers that load, by how
  size_t failing = 0, variants = 0, uncertain = 0;        // containers that do not, or may not
  int error = 0;                     // the first one a program would meet; 0 when none
  std::string reason;                // one sentence
  std::vector<Shortfall> shortfalls; // most containers first, variants last
  std::optional<Version> needs_isa;  // highest PTX ISA that has to be compiled
  std::string needs_driver;          // "580.65.06", or a branch "570"; empty: not established
  std::string needs_driver_why;
  std::string driver_fix; // set when the given driver is what refuses
};

FileVerdict judge_file(const Binary& binary, const LoadDevice& device, const LoadDriver* driver,
                       const LoadEnvironment& environment, const LoadRules& rules);

// Indices of the containers whose kernel names matter: those that do not load on some device where
// others do (their names tell variants from gaps), and a few where nothing loads, to be shown.
std::vector<size_t> containers_to_name(const std::vector<Container>& containers,
                                       const std::vector<LoadDevice>& devices,
                                       const LoadRules& rules,
                                       const LoadEnvironment& environment = {});

// The same for a container alone, where the others are not known yet.
bool names_would_help(const Container& container, const std::vector<LoadDevice>& devices,
                      const LoadRules& rules, const LoadEnvironment& environment = {});

// Would this driver start programs on this GPU at all?
struct Refusal {
  std::string reason; // empty: it would
  std::string fix;    // the driver to install
};
Refusal driver_refuses(const LoadDevice& device, const LoadDriver& driver, const LoadRules& rules);

std::string coverage_name(Coverage coverage); // "may-fail"

} // namespace gpuvet
