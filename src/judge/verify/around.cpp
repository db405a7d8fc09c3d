#include "judge/verify/around.hpp"

#include "judge/verify/seen/figures.hpp"
#include "judge/verify/seen/window.hpp"

#include <fmt/core.h>

#include <cmath>

namespace gpuvet {
namespace {

void add_if_differs(std::vector<std::string>& lines, const std::string& what,
                    const std::string& before, const std::string& now) {
  if (before == now || (before.empty() && now.empty())) return;
  lines.push_back(fmt::format("{}: {} before, {} now", what, before.empty() ? "not told" : before,
                              now.empty() ? "not told" : now));
}

std::optional<double> median_clock(const VerifyCase& all, const GpuView& view) {
  std::vector<double> clocks;
  for (const MomentWindow& window : windows_of(all, view))
    for (const GpuMoment* moment : window.moments)
      if (moment->sm_clock_mhz) clocks.push_back(*moment->sm_clock_mhz);
  return sample_median(std::move(clocks));
}

void add_number(std::vector<std::string>& lines, double many, const std::string& what,
                std::optional<double> before, std::optional<double> now, const std::string& unit) {
  if (!before || !now || *before <= 0) return;
  if (std::fabs(*now - *before) / *before * 100 <= many) return;
  lines.push_back(fmt::format("{}: {} before, {} now", what, figure_text(*before, unit),
                              figure_text(*now, unit)));
}

std::string link_of(const VerifyCase& all, const GpuView& view) {
  const auto seen = link_seen(windows_of(all, view));
  return seen ? fmt::format("PCIe {}.0 x{}", seen->generation, seen->width) : "";
}

} // namespace

const GpuView* counterpart(const VerifyCase& other, const GpuView& view) {
  if (const GpuView* same = find_view(other, view.gpu->uuid)) return same;
  for (const GpuView& candidate : other.gpus)
    if (candidate.gpu->ordinal == view.gpu->ordinal && candidate.gpu->name == view.gpu->name)
      return &candidate;
  return nullptr;
}

std::vector<std::string> changed_around(const VerifyCase& before, const VerifyCase& now) {
  std::vector<std::string> lines;
  add_if_differs(lines, "driver", before.measured.driver, now.measured.driver);
  add_if_differs(lines, "CUDA of the driver", before.measured.cuda, now.measured.cuda);
  add_if_differs(lines, "gpuvet", before.measured.version, now.measured.version);
  add_if_differs(lines, "host", before.measured.host_kind, now.measured.host_kind);
  const double many = verify_number(now.tables, "many");
  for (const GpuView& view : now.gpus) {
    const std::string label = gpu_label(now, view.gpu->uuid);
    const GpuView* old = counterpart(before, view);
    if (!old) {
      lines.push_back(label + " was not in the run before");
      continue;
    }
    if (old->gpu->uuid != view.gpu->uuid)
      lines.push_back(fmt::format("{} is another card: {} before, {} now", label, old->gpu->uuid,
                                  view.gpu->uuid));
    add_number(lines, 0, label + ", power limit", old->number("power_limit_w"),
               view.number("power_limit_w"), "W");
    add_number(lines, 0, label + ", NVLinks up", old->number("nvlinks_active"),
               view.number("nvlinks_active"), "");
    add_number(lines, many, label + ", clock under load", median_clock(before, *old),
               median_clock(now, view), "MHz");
    add_if_differs(lines, label + ", link under load", link_of(before, *old), link_of(now, view));
    add_if_differs(lines, label + ", others that use it", old->gpu->busy, view.gpu->busy);
  }
  for (const GpuView& old : before.gpus)
    if (!counterpart(now, old)) lines.push_back(old.gpu->uuid + " is not in the run now");
  return lines;
}

} // namespace gpuvet
