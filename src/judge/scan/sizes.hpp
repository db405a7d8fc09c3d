// What each target costs in bytes, and what a build for fewer GPUs would save.
#pragma once

#include "judge/scan/scan_result.hpp"
#include "model/report.hpp"

namespace gpuvet {

struct TargetSize {
  std::string name;   // "sm_90a", "compute_90", "lto_80"
  uint64_t bytes = 0; // stored, entry headers included
  size_t images = 0;
};

// Largest first.
std::vector<TargetSize> sizes_by_target(const ScanResult& result);

// Bytes of code that no device of the scan would choose in any container. Code that the driver does
// not choose among (LTO IR, parts to be linked) counts as needed.
uint64_t bytes_not_chosen(const ScanResult& result, const LoadRules& rules);

void add_sizes(Report& report, const ScanResult& result, const LoadRules& rules);

} // namespace gpuvet
