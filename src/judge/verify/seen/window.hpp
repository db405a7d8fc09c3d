// How a GPU stood while steps ran on it.
#pragma once

#include "judge/verify/seen/view.hpp"

#include <optional>
#include <vector>

namespace gpuvet {

struct MomentWindow { // moments between begin and end of one step, in order of time
  std::vector<const GpuMoment*> moments;
};

MomentWindow window_of(const GpuView& view, const StepResult& step);

// Of all steps that ran on this GPU, one window each.
std::vector<MomentWindow> windows_of(const VerifyCase& all, const GpuView& view);

struct LinkSeen {
  uint32_t generation = 0, width = 0;
};
// The best that the link was seen at: it rises under load and falls afterwards.
std::optional<LinkSeen> link_seen(const std::vector<MomentWindow>& windows);

using MomentNumber = std::optional<double> GpuMoment::*;
std::optional<double> highest(const MomentWindow& window, MomentNumber number);
// Median of the last quarter less median of the first.
std::optional<double> rise(const MomentWindow& window, MomentNumber number);

// Percent of the time that a reason held the clocks down: by the driver's nanoseconds, else by its
// bits at the moments. nullopt: NVML told neither.
struct HeldShare {
  double percent = 0;
  bool by_counter = false;
};
std::optional<HeldShare> held_share(const std::vector<MomentWindow>& windows,
                                    const VerifyReason& reason);

} // namespace gpuvet
