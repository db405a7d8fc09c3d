// What the entries of a plan cost in bytes, by an earlier build of the same sources.
#pragma once

#include "judge/arch/plan.hpp"
#include "judge/scan/sizes.hpp"

namespace gpuvet {

struct PlannedSize {
  Code code;
  std::optional<uint64_t> bytes; // nullopt: the earlier build has nothing of the kind
  std::string like;              // target whose images the estimate is from; empty: measured
};

struct PlannedSizes {
  std::vector<PlannedSize> entries; // one per code of the plan, same order
  uint64_t total = 0;               // bytes of the plan, what is known of it
  bool whole = true;                // every entry is in the total
  uint64_t now = 0;                 // bytes of GPU code in the earlier build
};

// A target that the earlier build has costs what it costs there. Another one is taken to cost as
// much as the nearest target of its kind.
PlannedSizes planned_sizes(const CodeSet& codes, const ScanResult& earlier);

} // namespace gpuvet
