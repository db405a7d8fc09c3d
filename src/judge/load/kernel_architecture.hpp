// Libraries that choose kernels by compute capability compile some files for one architecture only,
// and name the kernels after it: "cutlass3x_sm100_...", "ampere_s16816gemm", "...arch4Sm80E...".
// Such a container is no gap on other GPUs.
#pragma once

#include "judge/load/load.hpp"

namespace gpuvet {

// Capabilities that a kernel's name mentions: 80 for "Sm80" and "sm_80", a range for "ampere".
struct NamedArchitecture {
  uint32_t first_sm = 0, last_sm = 0;
};
std::vector<NamedArchitecture> architectures_in_name(std::string_view kernel,
                                                     const LoadRules& rules);

// Are the container's kernels named for an architecture that it is built for and that the device is
// not? A newer one than the device's always counts; an older one only in a file that `dispatches`,
// since code written for an older architecture is often meant to run on newer ones too.
bool named_for_others(const Container& container, const LoadDevice& device, bool dispatches,
                      const LoadRules& rules);

// Does the file hold containers for disjoint sets of targets, as libraries do that choose kernels
// by capability?
bool selects_by_architecture(const Binary& binary);

} // namespace gpuvet
