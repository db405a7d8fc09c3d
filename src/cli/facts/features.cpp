#include "cli/facts/page.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// Turing cards exist with and without tensor cores; the chip tells.
bool lacks_tensor_cores(const Gpu* gpu) {
  return gpu && !gpu->chips.empty() &&
         std::all_of(gpu->chips.begin(), gpu->chips.end(), [](const std::string& chip) {
           return chip.starts_with("TU116") || chip.starts_with("TU117");
         });
}

// "needs sm_100f or sm_100a": code for the plain target cannot use it.
std::string target_need(const Feature& feature, uint32_t sm) {
  if (feature.target.empty()) return {};
  std::string a = sm_name({sm, 'a'});
  if (feature.target == "a" || sm < 100) return "needs code for " + a; // f came with 10.0
  return fmt::format("needs code for {} or {}", sm_name({sm, 'f'}), a);
}

std::string feature_text(const Feature& feature, uint32_t sm) {
  std::string text = feature.name, need = target_need(feature, sm);
  return need.empty() ? text : text + " (" + need + ")";
}

bool note_applies(const Feature& feature, uint32_t sm) {
  const std::vector<uint32_t>& about = feature.note_for;
  return !feature.note.empty() &&
         (about.empty() || std::find(about.begin(), about.end(), sm) != about.end());
}

struct Group {
  const char* key;
  const char* label;
};
constexpr Group groups[] = {{"tensor", "tensor cores"},
                            {"memory", "memory"},
                            {"execution", "execution"},
                            {"arithmetic", "arithmetic"}};

std::string limits_text(const CapabilityLimits& limits) {
  return fmt::format("{} threads, {} warps and {} blocks on an SM; shared memory {} KiB on an SM, "
                     "{} KiB in a block; FP32 to FP64 rate {}",
                     limits.threads, limits.warps, limits.blocks, limits.shared_sm_kib,
                     limits.shared_block_kib, limits.fp64_ratio);
}

} // namespace

Result<bool> add_features(const Facts& facts, uint32_t sm, const Gpu* gpu, FactsPage& page) {
  auto features = facts.features();
  if (!features) return tl::unexpected<Error>(features.error());
  auto limits = facts.capability_limits();
  if (!limits) return tl::unexpected<Error>(limits.error());

  bool without_tensor = lacks_tensor_cores(gpu);
  PageSection section;
  section.title = fmt::format("What {} brings", cc_name(sm));
  std::vector<std::string> rows, later;
  for (const Group& group : groups) {
    std::vector<std::string> here;
    for (const Feature& feature : **features) {
      if (feature.group != group.key) continue;
      bool has = has_feature(feature, sm) && !(without_tensor && feature.group == "tensor");
      if (has) here.push_back(feature_text(feature, sm));
      if (!has) later.push_back(feature.name);
      rows.push_back(json_object({{"id", json_text(feature.id)},
                                  {"name", json_text(feature.name)},
                                  {"group", json_text(feature.group)},
                                  {"has", json_flag(has)},
                                  {"needs_target", json_text(has ? feature.target : "")},
                                  {"note", json_text(feature.note)},
                                  {"sources", json_texts(feature.sources)}}));
      if (has && note_applies(feature, sm))
        page.notes.push_back(feature.name + ": " + feature.note);
    }
    section.lines.emplace_back(group.label, here.empty() ? "none" : joined(here, ", "));
  }
  auto row = std::find_if((*limits)->begin(), (*limits)->end(),
                          [&](const CapabilityLimits& l) { return l.sm == sm; });
  section.lines.emplace_back("limits",
                             row == (*limits)->end() ? or_unknown("") : limits_text(*row));
  section.lines.emplace_back("it lacks", later.empty() ? "nothing of these" : joined(later, ", "));
  page.sections.push_back(std::move(section));
  page.data.emplace_back("features", json_array(rows));
  return true;
}

} // namespace gpuvet
