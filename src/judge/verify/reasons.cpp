#include "judge/verify/reasons.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

// "below-default", "at-default" or "not-told".
std::string power_limit_is(const GpuView& view) {
  const auto limit = view.number("power_limit_w"), normal = view.number("power_default_w");
  if (!limit || !normal) return "not-told";
  return *limit < *normal - 1 ? "below-default" : "at-default"; // whole watts, rounded
}

Verdict verdict_of(const VerifyReason& reason, double percent) {
  if (reason.fail && percent >= *reason.fail) return Verdict::fail;
  return reason.warn && percent > *reason.warn ? Verdict::warn : Verdict::pass;
}

} // namespace

ReasonsSeen reasons_in(const VerifyCase& all, const GpuView& view,
                       const std::vector<MomentWindow>& windows) {
  ReasonsSeen seen;
  const std::string power = power_limit_is(view);
  for (const VerifyReason& reason : all.tables.reasons) {
    if (!reason.when.empty() && reason.when != power) continue;
    const auto share = held_share(windows, reason);
    if (!share) continue;
    seen.told = true;
    if (share->percent > 0)
      seen.held.push_back({&reason, *share, verdict_of(reason, share->percent)});
  }
  return seen;
}

const HeldBy* deciding(const ReasonsSeen& seen) {
  for (Verdict verdict : {Verdict::fail, Verdict::warn})
    for (const HeldBy& held : seen.held)
      if (held.verdict == verdict) return &held;
  return seen.held.empty() ? nullptr : &seen.held.front();
}

std::string held_text(const GpuView& view, const HeldBy& held) {
  std::string text = held.reason->title;
  const auto limit = view.number("power_limit_w"), normal = view.number("power_default_w");
  if (held.reason->counter == "power_ns" && limit)
    text += normal && *limit != *normal ? fmt::format(" ({:.0f} of {:.0f} W)", *limit, *normal)
                                        : fmt::format(" ({:.0f} W)", *limit);
  return fmt::format("{}, {:.{}f} % of the time{}", text, held.share.percent,
                     held.share.percent < 1 ? 2 : 0, held.share.by_counter ? "" : " (by looks)");
}

} // namespace gpuvet
