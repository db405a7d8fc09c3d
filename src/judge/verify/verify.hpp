// From what was measured to what it means: a row for each step with its limit, its ratio and its
// verdict, and a sentence for whatever is not as it should be. Pure: a saved run is judged again
// the same way.
//
// VerifiedGpu::numbers that are asked for, all optional; what is missing makes the rows that need
// it unknown, with the name of what is missing:
//   multiprocessors, sm_clock_max_mhz, memory_clock_max_mhz, memory_bus_bits
//   link_generation_max, link_width_max       of GPU and system together, as NVML gives them
//   link_generation_device_max, link_width_device_max   of the GPU alone
//   slot_generation_max, slot_width_max       least of all bridges above the GPU (sysfs max_link_*)
//   nvlinks, nvlinks_active                   links that the GPU has, and that are up
//   c2c_gb_s                                  chip to chip, one way, where there is no PCIe
//   power_limit_w, power_default_w, mig_memory_share (0 to 1)
// VerifiedGpu::words: mig ("on", "part"), virtualization ("passthrough", "vgpu"), nvml and
// telemetry (what went wrong there).
#pragma once

#include "facts/facts.hpp"
#include "facts/verify/verify.hpp"
#include "model/report.hpp"
#include "model/verify/judged.hpp"
#include "model/verify/measurements.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpuvet {

struct VerifyPolicy {
  std::set<std::string> allowed_skips; // ids of rows, or of the steps that they judge
  std::set<std::string> layers;        // that were asked for; empty: all
  bool strict = false;                 // a warning alone gives exit status 4
};

struct VerifyReport {
  std::vector<JudgedStep> steps; // in the order of facts/verify.toml, then GPU, then peer
  Report report;                 // verdict line, table, findings
  int exit_status = 3; // 0 pass, 1 fail, 3 incomplete, 4 warnings with strict, 130 interrupted
};

VerifyReport judge_verify(const Measurements& measured, const VerifyTables& tables,
                          const Facts& facts, const VerifyPolicy& policy);

// Two runs of one machine, or of two like ones: what became slower, and what changed around it.
Report compare_runs(const Measurements& before, const Measurements& now, const VerifyTables& tables,
                    const Facts& facts);

} // namespace gpuvet
