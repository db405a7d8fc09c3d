#include "cli/facts/page.hpp"
#include "judge/load/load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace gpuvet {
namespace {

// What several pages about GPUs need.
struct GpuFacts {
  const std::vector<Gpu>& gpus;
  const std::vector<Capability>& capabilities;
  const LoadRules& rules;
};

const SassRange* plain_target(const LoadRules& rules, uint32_t sm) {
  for (const SassRange& range : rules.sass_ranges)
    if (range.target == Target{sm, 0}) return &range;
  return nullptr;
}

// "11.1 and newer", "6.0 to 12.9".
std::string toolkit_range(const GpuFacts& facts, const Capability& capability, bool brief) {
  const SassRange* range = plain_target(facts.rules, capability.sm);
  if (!range && capability.last_cuda.empty()) return {};
  if (!range) return (brief ? "-" : "up to ") + capability.last_cuda;
  if (range->last_cuda.empty()) return range->first_cuda + (brief ? "-" : " and newer");
  return range->first_cuda + (brief ? "-" : " to ") + range->last_cuda;
}

// The branch that came with the first toolkit for the capability; 0: not established.
uint32_t first_branch(const LoadRules& rules, uint32_t sm) {
  const SassRange* range = plain_target(rules, sm);
  auto first = range ? parse_version(range->first_cuda) : std::nullopt;
  if (!first || rules.branches.empty() || *first < rules.branches[0].cuda) return 0;
  for (const DriverBranch& branch : rules.branches)
    if (branch.cuda >= *first) return branch.branch;
  return 0;
}

std::optional<uint32_t> last_branch(const LoadRules& rules, uint32_t sm) {
  for (const ArchitectureEnd& end : rules.ends)
    if (sm >= end.first_sm && sm <= end.last_sm) return end.last_branch;
  return std::nullopt;
}

bool is_tegra(const LoadRules& rules, uint32_t sm) {
  return std::find(rules.tegra.begin(), rules.tegra.end(), sm) != rules.tegra.end();
}

std::string driver_range(const LoadRules& rules, uint32_t sm) {
  if (is_tegra(rules, sm)) return "comes with JetPack";
  uint32_t first = first_branch(rules, sm);
  auto last = last_branch(rules, sm);
  if (first && last)
    return fmt::format("{} (the first for {}) to {}; newer ones refuse it", first, cc_name(sm),
                       *last);
  if (last) return fmt::format("up to {}; newer ones refuse it", *last);
  if (first) return fmt::format("{} (the first for {}) and newer", first, cc_name(sm));
  return {};
}

std::string target_list(const LoadRules& rules, uint32_t sm) {
  std::vector<std::string> names;
  for (const SassRange& range : rules.sass_ranges) {
    if (range.target.sm != sm) continue;
    std::string note = range.target.suffix ? fmt::format(" (CUDA {})", range.first_cuda) : "";
    names.push_back(sm_name(range.target) + note);
  }
  return joined(names, ", ");
}

// What the device runs: machine code by the driver's rules, and PTX that it compiles.
std::string runs_text(const LoadRules& rules, uint32_t sm) {
  LoadDevice device{cc_name(sm), sm, is_tegra(rules, sm)};
  std::vector<std::string> names;
  for (const SassRange& range : rules.sass_ranges)
    if (sass_fits(rules, range.target, device)) names.push_back(sm_name(range.target));
  if (names.empty()) return {};
  return "machine code for " + joined(names, " ") + "; PTX for " + compute_name({sm, 0}) +
         " and older";
}

const Capability* capability_of(const GpuFacts& facts, uint32_t sm) {
  for (const Capability& capability : facts.capabilities)
    if (capability.sm == sm) return &capability;
  return nullptr;
}

std::string memory_text(const Gpu& gpu) {
  std::vector<std::string> sizes;
  for (double size : gpu.memory_sizes_gb)
    sizes.push_back(plain_number(size));
  std::string text = joined(sizes, " or ");
  if (!text.empty()) text += " GB";
  if (gpu.memory_bandwidth_gb_s) {
    if (!text.empty()) text += ", ";
    text += plain_number(*gpu.memory_bandwidth_gb_s) + " GB/s";
  }
  return text;
}

std::string peak_text(const Gpu& gpu) {
  std::vector<std::string> parts;
  if (gpu.fp16_tensor_tflops)
    parts.push_back(plain_number(*gpu.fp16_tensor_tflops) +
                    " TFLOPS dense FP16 on tensor cores (FP32 accumulate)");
  if (gpu.fp16_tensor_fp16acc_tflops)
    parts.push_back(plain_number(*gpu.fp16_tensor_fp16acc_tflops) + " with FP16 accumulate");
  if (gpu.fp32_tflops) parts.push_back(plain_number(*gpu.fp32_tflops) + " TFLOPS FP32");
  return joined(parts, ", ");
}

std::string power_text(const Gpu& gpu) {
  if (!gpu.tdp_w) return {};
  return plain_number(*gpu.tdp_w) + (gpu.board_tdp ? " W for the board of several GPUs" : " W");
}

std::string gpu_json(const Gpu& gpu) {
  std::vector<std::string> sizes;
  for (double size : gpu.memory_sizes_gb)
    sizes.push_back(json_number(size));
  std::optional<double> sms, last;
  if (gpu.sm_count) sms = *gpu.sm_count;
  if (gpu.last_driver_branch) last = *gpu.last_driver_branch;
  return json_object({{"name", json_text(gpu.name)},
                      {"compute_capability", json_text(cc_name(gpu.sm))},
                      {"sm", json_text(sm_name({gpu.sm, 0}))},
                      {"architecture", json_text(gpu.architecture)},
                      {"chips", json_texts(gpu.chips)},
                      {"segment", json_text(gpu.segment)},
                      {"mobile", json_flag(gpu.mobile)},
                      {"tegra", json_flag(gpu.tegra)},
                      {"pci_ids", json_texts(gpu.pci_ids)},
                      {"aliases", json_texts(gpu.aliases)},
                      {"last_driver_branch", json_number(last)},
                      {"first_driver_listing", json_text(gpu.first_driver)},
                      {"memory_gb", json_array(sizes)},
                      {"memory_bandwidth_gb_s", json_number(gpu.memory_bandwidth_gb_s)},
                      {"fp32_tflops", json_number(gpu.fp32_tflops)},
                      {"fp16_tensor_tflops", json_number(gpu.fp16_tensor_tflops)},
                      {"fp16_tensor_fp16acc_tflops", json_number(gpu.fp16_tensor_fp16acc_tflops)},
                      {"tdp_w", json_number(gpu.tdp_w)},
                      {"tdp_is_board", json_flag(gpu.board_tdp)},
                      {"pcie", json_text(gpu.pcie)},
                      {"sm_count", json_number(sms)},
                      {"specification_source", json_text(gpu.spec_source)},
                      {"specification_confidence", json_text(gpu.confidence)},
                      {"note", json_text(gpu.note)},
                      {"source", json_text(gpu.source)}});
}

std::string capability_json(const GpuFacts& facts, const Capability& capability) {
  const SassRange* range = plain_target(facts.rules, capability.sm);
  std::optional<double> year, first, last;
  if (capability.year) year = *capability.year;
  if (uint32_t branch = first_branch(facts.rules, capability.sm)) first = branch;
  bool tegra = is_tegra(facts.rules, capability.sm);
  if (auto branch = last_branch(facts.rules, capability.sm); branch && !tegra) last = *branch;
  std::string last_cuda = range ? range->last_cuda : capability.last_cuda;
  return json_object({{"compute_capability", json_text(cc_name(capability.sm))},
                      {"architecture", json_text(capability.architecture)},
                      {"tegra", json_flag(tegra)},
                      {"year", json_number(year)},
                      {"examples", json_text(capability.examples)},
                      {"first_cuda", json_text(range ? range->first_cuda : "")},
                      {"last_cuda", json_text(last_cuda)},
                      {"still_in_cuda", json_flag(range && range->last_cuda.empty())},
                      {"first_driver_branch", json_number(first)},
                      {"last_driver_branch", json_number(last)},
                      {"note", json_text(capability.note)},
                      {"source", json_text(capability.source)}});
}

FactsPage overview(const GpuFacts& facts) {
  FactsPage page;
  page.verdict = fmt::format("{} GPUs of {} compute capabilities, {} to {}.", facts.gpus.size(),
                             facts.capabilities.size(), cc_name(facts.capabilities.front().sm),
                             cc_name(facts.capabilities.back().sm));
  PageSection section;
  section.table = make_table({">cc", "architecture", ">since", "CUDA", "drivers", "examples"});
  std::vector<std::string> rows;
  for (const Capability& c : facts.capabilities) {
    uint32_t first = first_branch(facts.rules, c.sm);
    auto last = last_branch(facts.rules, c.sm);
    std::string drivers =
        fmt::format("{}-{}", first ? std::to_string(first) : "", last ? std::to_string(*last) : "");
    if (is_tegra(facts.rules, c.sm)) drivers = "JetPack";
    add_row(section.table,
            {cc_name(c.sm), c.architecture, c.year ? std::to_string(*c.year) : "?",
             toolkit_range(facts, c, true), drivers, c.examples.empty() ? "?" : c.examples});
    rows.push_back(capability_json(facts, c));
  }
  page.sections.push_back(std::move(section));
  page.notes = {"\"11.8-\" means 11.8 and newer, still today. Driver numbers are branches: 535 "
                "stands for 535.104.05 too.",
                "one GPU: gpuvet facts gpus T4. All GPUs of a capability: gpuvet facts gpus 8.6."};
  page.data = {{"capabilities", json_array(rows)}};
  return page;
}

FactsPage one_gpu(const GpuFacts& facts, const Gpu& gpu) {
  FactsPage page;
  page.verdict =
      fmt::format("{}: compute capability {} ({})", gpu.name, cc_name(gpu.sm), gpu.architecture);
  const Capability* capability = capability_of(facts, gpu.sm);
  std::string driver = or_unknown(driver_range(facts.rules, gpu.sm));
  if (!gpu.first_driver.empty())
    driver += fmt::format("; {} is the oldest known to list this name", gpu.first_driver);
  std::string figures = gpu.spec_source;
  if (!figures.empty()) figures += "; confidence " + gpu.confidence;
  auto& lines = page.sections.emplace_back().lines;
  lines = {{"code targets", or_unknown(target_list(facts.rules, gpu.sm))},
           {"runs", or_unknown(runs_text(facts.rules, gpu.sm))},
           {"CUDA", or_unknown(capability ? toolkit_range(facts, *capability, false) : "")},
           {"driver", driver},
           {"chip", or_unknown(joined(gpu.chips, ", ")) + ", " + gpu.segment +
                        (gpu.mobile ? ", mobile or embedded" : "")},
           {"memory", or_unknown(memory_text(gpu))},
           {"peak", or_unknown(peak_text(gpu))},
           {"power", or_unknown(power_text(gpu))},
           {"SMs", or_unknown(gpu.sm_count ? std::to_string(*gpu.sm_count) : "")},
           {"PCIe", or_unknown(gpu.pcie)},
           {"PCI ids", or_unknown(joined(gpu.pci_ids, ", "))}};
  if (!gpu.aliases.empty()) lines.emplace_back("also called", joined(gpu.aliases, ", "));
  if (!figures.empty()) lines.emplace_back("figures", figures);
  lines.emplace_back("source", gpu.source);
  if (!gpu.capability_page.empty())
    lines.emplace_back("capability", "confirmed by " + gpu.capability_page);
  if (!gpu.note.empty()) page.notes.push_back(gpu.note);
  page.data = {{"gpus", json_array({gpu_json(gpu)})}};
  if (capability) page.data.emplace_back("capability", capability_json(facts, *capability));
  return page;
}

FactsPage one_capability(const GpuFacts& facts, const Capability& capability) {
  FactsPage page;
  std::map<std::string, std::vector<std::string>> by_segment;
  std::vector<std::string> rows;
  for (const Gpu& gpu : facts.gpus) {
    if (gpu.sm != capability.sm) continue;
    std::string name = gpu.name;
    if (name.starts_with("NVIDIA ")) name.erase(0, 7);
    if (name.starts_with("GeForce ")) name.erase(0, 8);
    by_segment[gpu.segment].push_back(name);
    rows.push_back(gpu_json(gpu));
  }
  page.verdict = fmt::format("compute capability {}: {}, {} GPU names", cc_name(capability.sm),
                             capability.architecture, rows.size());
  auto& lines = page.sections.emplace_back().lines;
  lines = {{"code targets", or_unknown(target_list(facts.rules, capability.sm))},
           {"runs", or_unknown(runs_text(facts.rules, capability.sm))},
           {"CUDA", or_unknown(toolkit_range(facts, capability, false))},
           {"driver", or_unknown(driver_range(facts.rules, capability.sm))},
           {"since", or_unknown(capability.year ? std::to_string(*capability.year) : "")}};
  for (const auto& [segment, names] : by_segment)
    lines.emplace_back(segment, joined(names, ", "));
  if (!capability.note.empty()) page.notes.push_back(capability.note);
  page.data = {{"capability", capability_json(facts, capability)}, {"gpus", json_array(rows)}};
  return page;
}

FactsPage ambiguous(const std::string& query, const GpuMatch& match) {
  FactsPage page;
  page.found = false;
  std::set<uint32_t> capabilities;
  for (const Gpu* gpu : match.candidates)
    capabilities.insert(gpu->sm);
  page.verdict =
      fmt::format("\"{}\" names {} different cards, of {} compute capabilities: not decided.",
                  query, match.candidates.size(), capabilities.size());
  PageSection section;
  section.table = make_table({"name", ">cc", "architecture", "chip", "PCI ids"});
  std::vector<std::string> rows;
  for (const Gpu* gpu : match.candidates) {
    constexpr size_t most = 2;
    std::vector<std::string> ids = gpu->pci_ids;
    size_t more = ids.size() > most ? ids.size() - most : 0;
    ids.resize(ids.size() - more);
    std::string shown = joined(ids, " ") + (more ? fmt::format(" +{}", more) : "");
    add_row(section.table,
            {gpu->name, cc_name(gpu->sm), gpu->architecture, joined(gpu->chips, " "), shown});
    rows.push_back(gpu_json(*gpu));
  }
  page.sections.push_back(std::move(section));
  page.notes = {"type the full name or the PCI id. On the machine: nvidia-smi "
                "--query-gpu=name,pci.device_id,compute_cap --format=csv"};
  page.data = {{"candidates", json_array(rows)}};
  return page;
}

FactsPage unknown_name(const std::string& query, const GpuMatch& match) {
  FactsPage page;
  page.found = false;
  page.verdict = fmt::format("no GPU that runs CUDA is known as \"{}\".", query);
  if (!match.suggestions.empty()) {
    page.sections.emplace_back().title = "Names that look alike:";
    for (const std::string& name : match.suggestions)
      page.sections.back().lines.emplace_back("  " + name, "");
  }
  page.notes = {"names as nvidia-smi prints them, short forms such as A100, capabilities such as "
                "8.6 and PCI ids such as 10de:2335 are understood."};
  page.data = {{"suggestions", json_texts(match.suggestions)}};
  return page;
}

} // namespace

Result<FactsPage> gpus_page(const Facts& facts, const std::string& query, bool features) {
  auto gpus = facts.gpus();
  if (!gpus) return tl::unexpected<Error>(gpus.error());
  auto capabilities = facts.capabilities();
  if (!capabilities) return tl::unexpected<Error>(capabilities.error());
  auto rules = facts.load_rules();
  if (!rules) return tl::unexpected<Error>(rules.error());
  GpuFacts known{**gpus, **capabilities, **rules};
  if (query.empty()) return overview(known);

  auto target = parse_target(query);
  const Capability* capability = target ? capability_of(known, target->sm) : nullptr;
  GpuMatch match;
  FactsPage page;
  if (capability) {
    page = one_capability(known, *capability);
  } else {
    match = find_gpu(known.gpus, query);
    if (match.gpu)
      page = one_gpu(known, *match.gpu);
    else
      page = match.candidates.empty() ? unknown_name(query, match) : ambiguous(query, match);
  }
  if (features && page.found) {
    uint32_t sm = capability ? capability->sm : match.gpu->sm;
    if (auto added = add_features(facts, sm, match.gpu, page); !added)
      return tl::unexpected<Error>(added.error());
  }
  return page;
}

} // namespace gpuvet
