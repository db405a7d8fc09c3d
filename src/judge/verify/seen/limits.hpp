// What the hardware can do, worked out from what it says about itself.
#pragma once

#include "judge/verify/seen/view.hpp"

#include <optional>
#include <string>

namespace gpuvet {

struct HardwareLimit {
  std::optional<double> value; // in the unit of the row
  std::string from;            // "PCIe 5.0 x16 under load"
  std::string link;            // "pcie", "nvlink", "c2c", "staged"; empty: about no link
  uint32_t generation = 0;     // of the link
  bool upper = false;          // the best that is possible; the machine may have less
  std::string why_unknown;
};

HardwareLimit hardware_limit(const VerifyCase& all, const VerifyTarget& target, VerifyLimit limit);

// One way, GB/s; nullopt: no such generation in the table.
std::optional<double> pcie_rate(const VerifyTables& tables, uint32_t generation, uint32_t width);

// FLOP per clock and multiprocessor of this model; null: the table does not know.
const VerifyTensor* tensor_rate(const VerifyTables& tables, const GpuView& view);

// "5.0 x16" of gpus.toml.
struct LinkSpec {
  uint32_t generation = 0, width = 0;
};
std::optional<LinkSpec> link_spec(const GpuView& view);

} // namespace gpuvet
