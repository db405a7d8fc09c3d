#include "judge/verify/seen/window.hpp"

#include "judge/verify/seen/figures.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gpuvet {
namespace {

using Counter = std::optional<uint64_t> GpuMoment::*;

constexpr std::array<std::pair<std::string_view, Counter>, 7> kCounters = {{
    {"power_ns", &GpuMoment::power_ns},
    {"thermal_ns", &GpuMoment::thermal_ns},
    {"board_limit_ns", &GpuMoment::board_limit_ns},
    {"reliability_ns", &GpuMoment::reliability_ns},
    {"software_thermal_ns", &GpuMoment::software_thermal_ns},
    {"hardware_thermal_ns", &GpuMoment::hardware_thermal_ns},
    {"brake_ns", &GpuMoment::brake_ns},
}};

// Of the time between the first and the last moment that know the counter.
std::optional<HeldShare> by_counter(const std::vector<MomentWindow>& windows, Counter counter) {
  double held = 0, seconds = 0;
  for (const MomentWindow& window : windows) {
    const GpuMoment *first = nullptr, *last = nullptr;
    for (const GpuMoment* moment : window.moments) {
      if (!(moment->*counter)) continue;
      if (!first) first = moment;
      last = moment;
    }
    if (!first || last->at_s <= first->at_s) continue;
    seconds += last->at_s - first->at_s;
    const uint64_t before = *(first->*counter), after = *(last->*counter);
    if (after > before) held += static_cast<double>(after - before) / 1e9;
  }
  if (seconds <= 0) return std::nullopt;
  return HeldShare{std::min(100.0, held / seconds * 100), true};
}

std::optional<HeldShare> by_bit(const std::vector<MomentWindow>& windows, uint32_t bit) {
  size_t known = 0, set = 0;
  for (const MomentWindow& window : windows)
    for (const GpuMoment* moment : window.moments) {
      known += moment->reasons.has_value();
      set += (moment->reasons.value_or(0) & bit) != 0;
    }
  if (known == 0) return std::nullopt;
  return HeldShare{100.0 * static_cast<double>(set) / static_cast<double>(known), false};
}

} // namespace

MomentWindow window_of(const GpuView& view, const StepResult& step) {
  const auto& all = view.by_time;
  const auto first =
      std::lower_bound(all.begin(), all.end(), step.begin_s,
                       [](const GpuMoment* moment, double at) { return moment->at_s < at; });
  MomentWindow window;
  for (auto at = first; at != all.end() && (*at)->at_s <= step.end_s; ++at)
    window.moments.push_back(*at);
  return window;
}

std::vector<MomentWindow> windows_of(const VerifyCase& all, const GpuView& view) {
  std::vector<MomentWindow> windows;
  for (const StepResult& step : all.measured.steps)
    if (step.gpu == view.gpu->uuid && step.end_s > step.begin_s)
      windows.push_back(window_of(view, step));
  return windows;
}

std::optional<LinkSeen> link_seen(const std::vector<MomentWindow>& windows) {
  LinkSeen seen;
  for (const MomentWindow& window : windows)
    for (const GpuMoment* moment : window.moments) {
      seen.generation = std::max(seen.generation, moment->link_generation.value_or(0));
      seen.width = std::max(seen.width, moment->link_width.value_or(0));
    }
  if (seen.generation == 0 || seen.width == 0) return std::nullopt;
  return seen;
}

std::optional<double> highest(const MomentWindow& window, MomentNumber number) {
  std::optional<double> most;
  for (const GpuMoment* moment : window.moments)
    if (moment->*number && (!most || *(moment->*number) > *most)) most = moment->*number;
  return most;
}

std::optional<double> rise(const MomentWindow& window, MomentNumber number) {
  std::vector<double> values;
  for (const GpuMoment* moment : window.moments)
    if (moment->*number) values.push_back(*(moment->*number));
  if (values.size() < 4) return std::nullopt;
  const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
  const auto first = sample_median({values.begin(), values.begin() + quarter});
  const auto last = sample_median({values.end() - quarter, values.end()});
  if (!first || !last) return std::nullopt;
  return *last - *first;
}

std::optional<HeldShare> held_share(const std::vector<MomentWindow>& windows,
                                    const VerifyReason& reason) {
  for (const auto& [name, counter] : kCounters)
    if (name == reason.counter)
      if (auto share = by_counter(windows, counter)) return share;
  return reason.bit == 0 ? std::nullopt : by_bit(windows, reason.bit);
}

} // namespace gpuvet
