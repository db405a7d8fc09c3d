// Rules about links: PCIe under load, and NVLinks that are up.
#include "judge/verify/rules.hpp"
#include "judge/verify/seen/window.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// Windows of the copies, in which the link is under load.
std::vector<MomentWindow> copies_of(const VerifyCase& all, const GpuView& view) {
  std::vector<MomentWindow> windows;
  for (const StepResult& step : all.measured.steps) {
    const auto& rows = all.tables.rows;
    const bool copies = std::any_of(rows.begin(), rows.end(), [&](const VerifyRow& row) {
      return row.step == step.id && row.limit == VerifyLimit::pcie;
    });
    if (copies && step.gpu == view.gpu->uuid && step.end_s > step.begin_s)
      windows.push_back(window_of(view, step));
  }
  return windows;
}

std::string link_text(double generation, double width) {
  return fmt::format("{:.0f}.0 x{:.0f}", generation, width);
}

// What the GPU could do in a better slot; 0: not known.
double own_or_spec(const GpuView& view, const char* number, uint32_t LinkSpec::*field) {
  if (const auto own = view.number(number)) return *own;
  const auto spec = link_spec(view);
  return spec ? static_cast<double>((*spec).*field) : 0;
}

// What both ends support: what NVML says for both, and no more than the bridges above.
double both_ends(const GpuView& view, const char* both, const char* slot) {
  const auto told = view.number(both), bridges = view.number(slot);
  if (told && bridges) return std::min(*told, *bridges);
  return told ? *told : bridges.value_or(0);
}

} // namespace

bool judge_link(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const GpuView& view = *target.gpu;
  if (view.number("c2c_gb_s")) {
    made.verdict = Verdict::info;
    made.evidence.push_back("CPU and GPU are linked chip to chip, not by PCIe");
    return true;
  }
  const auto windows = copies_of(all, view);
  if (windows.empty()) {
    leave_open(made, Verdict::skipped, "no copy was run, so the link was not seen under load");
    return true;
  }
  const auto seen = link_seen(windows);
  const double generation = both_ends(view, "link_generation_max", "slot_generation_max");
  const double width = both_ends(view, "link_width_max", "slot_width_max");
  if (!seen || generation < 1 || width < 1) {
    leave_open(made, Verdict::unknown,
               seen ? "NVML does not tell what the link can be"
                    : "NVML does not tell the link under load");
    made.next = "lspci -vv shows LnkCap and LnkSta";
    return true;
  }
  made.value = pcie_rate(all.tables, seen->generation, seen->width);
  made.theoretical = pcie_rate(all.tables, static_cast<uint32_t>(std::min(generation, 99.0)),
                               static_cast<uint32_t>(std::min(width, 99.0)));
  made.limit = made.theoretical;
  made.limit_from = "PCIe " + link_text(generation, width) + " that both ends support";
  const double own_generation =
      own_or_spec(view, "link_generation_device_max", &LinkSpec::generation);
  const double own_width = own_or_spec(view, "link_width_device_max", &LinkSpec::width);
  const std::string has = "PCIe " + link_text(seen->generation, seen->width);
  made.evidence.push_back("under load: " + has);
  Verdict verdict = Verdict::pass;
  std::string detail;
  if (seen->generation < generation || seen->width < width) {
    verdict = view.lowered.empty() ? Verdict::fail : Verdict::warn;
    detail = fmt::format("{} instead of {}", has, link_text(generation, width));
  } else if (generation < own_generation || width < own_width) {
    verdict = Verdict::warn;
    detail = fmt::format("{}, the card can do {}", has, link_text(own_generation, own_width));
  }
  conclude(made, target.row, verdict, detail);
  if (verdict == Verdict::warn && view.lowered.empty() && seen->width == width)
    made.next = "move the card to a larger slot if copies matter";
  if (verdict == Verdict::fail && seen->width == width)
    made.next = "look at the slot's speed in the firmware and at pcie_aspm; lspci -vv shows LnkCap "
                "and LnkSta";
  return true;
}

bool judge_links(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const GpuView& view = *target.gpu;
  const auto up = view.number("nvlinks_active");
  const double links = view.number("nvlinks").value_or(up.value_or(0));
  if (!up || links < 1) return false;
  double most = *up;
  for (const GpuView& other : all.gpus)
    if (other.gpu->name == view.gpu->name)
      most = std::max(most, other.number("nvlinks_active").value_or(0));
  made.reading = "nvlinks_active";
  made.value = *up;
  made.theoretical = links;
  made.limit = most;
  made.limit_from = "most links that are up on a GPU of this model";
  made.evidence.push_back(fmt::format("{:.0f} of {:.0f} links are up", *up, links));
  if (*up < most)
    conclude(made, target.row, view.lowered.empty() ? Verdict::fail : Verdict::warn,
             fmt::format("{:.0f} are up, {:.0f} on others", *up, most));
  else if (*up < 1)
    made.verdict = Verdict::info;
  else
    conclude(made, target.row, Verdict::pass, "");
  return true;
}

} // namespace gpuvet
