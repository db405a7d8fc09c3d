// What held the clocks down, by the rows of facts/verify.toml.
#pragma once

#include "judge/verify/seen/view.hpp"
#include "judge/verify/seen/window.hpp"

#include <optional>
#include <vector>

namespace gpuvet {

struct HeldBy {
  const VerifyReason* reason = nullptr;
  HeldShare share;
  Verdict verdict = Verdict::pass; // by the row's limits
};

struct ReasonsSeen {
  bool told = false;        // NVML told anything about reasons
  std::vector<HeldBy> held; // more than nothing; gravest first
};

ReasonsSeen reasons_in(const VerifyCase& all, const GpuView& view,
                       const std::vector<MomentWindow>& windows);

// The one that decides: the first that fails, else the first that warns, else the first; null:
// none.
const HeldBy* deciding(const ReasonsSeen& seen);

std::string held_text(const GpuView& view,
                      const HeldBy& held); // "the power limit ... 93 % of the time"

} // namespace gpuvet
