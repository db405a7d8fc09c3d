#include "judge/verify/seen/limits.hpp"

#include "base/text.hpp"
#include "judge/verify/seen/figures.hpp"
#include "judge/verify/seen/window.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

HardwareLimit no_limit(std::string why) {
  HardwareLimit limit;
  limit.why_unknown = std::move(why);
  return limit;
}

HardwareLimit pcie_of(const VerifyTables& tables, LinkSeen link, std::string from, bool upper) {
  HardwareLimit limit;
  limit.value = pcie_rate(tables, link.generation, link.width);
  limit.link = "pcie";
  limit.generation = link.generation;
  limit.from = fmt::format("PCIe {}.0 x{} {}", link.generation, link.width, from);
  limit.upper = upper;
  if (!limit.value)
    limit.why_unknown = fmt::format("nothing is known about PCIe {}.0", link.generation);
  return limit;
}

// The slowest hop: a bridge above the GPU may be slower than the GPU's own link.
LinkSeen slowest_hop(const GpuView& view, LinkSeen link) {
  const auto generation = view.number("slot_generation_max"), width = view.number("slot_width_max");
  if (generation && *generation >= 1)
    link.generation = std::min(link.generation, static_cast<uint32_t>(std::min(*generation, 99.0)));
  if (width && *width >= 1)
    link.width = std::min(link.width, static_cast<uint32_t>(std::min(*width, 99.0)));
  return link;
}

HardwareLimit pcie_limit(const VerifyCase& all, const GpuView& view, const StepResult& step) {
  if (const auto c2c = view.number("c2c_gb_s")) {
    HardwareLimit limit;
    limit.value = *c2c;
    limit.link = "c2c";
    limit.from = "chip to chip, as NVML tells";
    return limit;
  }
  if (const auto seen = link_seen({window_of(view, step)}))
    return pcie_of(all.tables, slowest_hop(view, *seen), "under load", false);
  const auto generation = view.number("link_generation_max"), width = view.number("link_width_max");
  if (generation && width && *generation >= 1 && *generation < 99 && *width >= 1 && *width < 99)
    return pcie_of(all.tables, {static_cast<uint32_t>(*generation), static_cast<uint32_t>(*width)},
                   "at most (not told under load)", true);
  if (const auto spec = link_spec(view))
    return pcie_of(all.tables, {spec->generation, spec->width}, "that the card is built for", true);
  return no_limit("NVML does not tell the PCIe link");
}

HardwareLimit memory_limit(const GpuView& view, const StepResult& step) {
  const auto bus = view.number("memory_bus_bits");
  auto clock = highest(window_of(view, step), &GpuMoment::memory_clock_mhz);
  if (!clock) clock = view.number("memory_clock_max_mhz");
  HardwareLimit limit;
  if (bus && clock) {
    limit.value = *clock * 2 * *bus / 8 / 1000;
    limit.from = fmt::format("{:.0f} MHz x 2 x {:.0f} bits", *clock, *bus);
  } else if (view.known && view.known->memory_bandwidth_gb_s) {
    limit.value = view.known->memory_bandwidth_gb_s;
    limit.from = "data sheet of the model";
    limit.upper = true;
  } else {
    return no_limit("neither the clock and width of the memory nor the model's data are known");
  }
  if (!view.mig) return limit;
  if (const auto share = view.number("mig_memory_share")) {
    limit.value = *limit.value * *share;
    limit.from += fmt::format(" x {} of the memory slices", share_text(*share));
  } else {
    limit.upper = true; // of the whole GPU
  }
  return limit;
}

std::optional<double> nvlink_rate(const VerifyTables& tables, const GpuView& view,
                                  HardwareLimit& limit) {
  const auto links = view.number("nvlinks_active");
  if (!links || *links < 1) return std::nullopt;
  for (const VerifyNvlink& row : tables.nvlink) {
    if (std::find(row.sm.begin(), row.sm.end(), view.gpu->sm) == row.sm.end()) continue;
    limit.link = "nvlink";
    limit.generation = row.generation;
    limit.from = fmt::format("{:.0f} NVLinks x {:.0f} GB/s", *links, row.link_gb_s);
    return *links * row.link_gb_s;
  }
  return std::nullopt;
}

// What the slower of the two can do.
HardwareLimit peer_limit(const VerifyCase& all, const GpuView& view, const StepResult& step) {
  const GpuView* peer = find_view(all, step.peer);
  if (word_of(step, "access") == "staged") {
    HardwareLimit limit = no_limit("the copy goes through the host's memory");
    limit.link = "staged";
    return limit;
  }
  if (!peer) return no_limit("the other GPU is not among those of the run");
  HardwareLimit own, other;
  own.value = nvlink_rate(all.tables, view, own);
  other.value = nvlink_rate(all.tables, *peer, other);
  if (own.value && other.value) return *own.value <= *other.value ? own : other;
  own = pcie_limit(all, view, step);
  other = pcie_limit(all, *peer, step);
  if (!own.value || !other.value) return own.value ? other : own;
  return *own.value <= *other.value ? own : other;
}

HardwareLimit tensor_limit(const VerifyCase& all, const GpuView& view, double clock_mhz,
                           const std::string& clock_from) {
  const VerifyTensor* row = tensor_rate(all.tables, view);
  const auto count = view.number("multiprocessors");
  if (!row) return no_limit("the tensor rate of this model is not known");
  if (!count) return no_limit("the number of multiprocessors is not known");
  HardwareLimit limit;
  limit.value = *count * clock_mhz * row->flop_per_clock / 1e6;
  limit.from = fmt::format("{:.0f} multiprocessors x {:.0f} MHz {} x {:.0f} FLOP", *count,
                           clock_mhz, clock_from, row->flop_per_clock);
  return limit;
}

HardwareLimit tensor_peak(const VerifyCase& all, const GpuView& view) {
  if (!view.mig && view.known && view.known->fp16_tensor_tflops) {
    HardwareLimit limit;
    limit.value = view.known->fp16_tensor_tflops;
    limit.from = "data sheet of " + view.known->name;
    return limit;
  }
  const auto clock = view.number("sm_clock_max_mhz");
  if (!clock) return no_limit("neither the model's data sheet nor its highest clock is known");
  return tensor_limit(all, view, *clock, "at most");
}

HardwareLimit all_reduce_limit(const VerifyCase& all) {
  HardwareLimit least;
  for (const GpuView& view : all.gpus) {
    HardwareLimit one;
    one.value = nvlink_rate(all.tables, view, one);
    if (!one.value) return no_limit("not all GPUs have NVLink");
    if (!least.value || *one.value < *least.value) least = one;
  }
  if (!least.value) least.why_unknown = "there is no GPU";
  return least;
}

} // namespace

std::optional<double> pcie_rate(const VerifyTables& tables, uint32_t generation, uint32_t width) {
  for (const VerifyPcie& row : tables.pcie)
    if (row.generation == generation && row.line_bits > 0)
      return width * row.gt_s / 8 * row.payload_bits / row.line_bits;
  return std::nullopt;
}

const VerifyTensor* tensor_rate(const VerifyTables& tables, const GpuView& view) {
  const auto is_named = [&](const std::string& name) {
    return normalised_name(name) == normalised_name(view.known ? view.known->name : view.gpu->name);
  };
  for (const VerifyTensor& row : tables.tensor) {
    if (row.sm != view.gpu->sm) continue;
    if (!row.segment.empty() && (!view.known || view.known->segment != row.segment)) continue;
    if (!row.names.empty() && std::none_of(row.names.begin(), row.names.end(), is_named)) continue;
    return &row;
  }
  return nullptr;
}

std::optional<LinkSpec> link_spec(const GpuView& view) {
  if (!view.known || view.known->pcie.empty()) return std::nullopt;
  const auto words = words_of(view.known->pcie);
  if (words.size() != 2 || words[1].size() < 2) return std::nullopt;
  const auto generation = decimal_number(words[0].substr(0, words[0].find('.')));
  const auto width = decimal_number(words[1].substr(1));
  if (!generation || !width || *generation > 99 || *width > 99) return std::nullopt;
  return LinkSpec{static_cast<uint32_t>(*generation), static_cast<uint32_t>(*width)};
}

HardwareLimit hardware_limit(const VerifyCase& all, const VerifyTarget& target, VerifyLimit limit) {
  if (limit == VerifyLimit::all_reduce) return all_reduce_limit(all);
  if (!target.gpu || !target.step) return no_limit("the GPU is not among those of the run");
  const GpuView& view = *target.gpu;
  const StepResult& step = *target.step;
  switch (limit) {
  case VerifyLimit::multiprocessors: {
    HardwareLimit made;
    made.value = view.number("multiprocessors");
    made.from = "as the driver tells";
    if (!made.value) made.why_unknown = "the number of multiprocessors is not known";
    return made;
  }
  case VerifyLimit::pcie:
    return pcie_limit(all, view, step);
  case VerifyLimit::memory:
    return memory_limit(view, step);
  case VerifyLimit::link:
    return peer_limit(all, view, step);
  case VerifyLimit::tensor_clock: {
    const auto clock = figure_of(step, "sm_clock");
    if (!clock) return no_limit("the clock was not measured meanwhile");
    return tensor_limit(all, view, clock->median, "as measured");
  }
  case VerifyLimit::tensor_peak:
    return tensor_peak(all, view);
  case VerifyLimit::all_reduce:
  case VerifyLimit::none:
    break;
  }
  return no_limit("nothing is known that it could be held against");
}

} // namespace gpuvet
