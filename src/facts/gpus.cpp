#include "facts/readers.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

void read_specifications(FactRow& row, const FactFile& file, Gpu& gpu) {
  gpu.memory_sizes_gb = row.numbers("memory_gb");
  if (gpu.memory_sizes_gb.size() == 1) gpu.memory_gb = gpu.memory_sizes_gb[0];
  gpu.memory_bandwidth_gb_s = row.number_if("bandwidth_gb_s");
  gpu.fp32_tflops = row.number_if("fp32_tflops");
  gpu.fp16_tensor_tflops = row.number_if("tensor_tflops");
  gpu.fp16_tensor_fp16acc_tflops = row.number_if("tensor_fp16_tflops");
  gpu.tdp_w = row.number_if("tdp_w");
  gpu.board_tdp = row.flag("board_tdp");
  gpu.pcie = row.text_if("pcie");
  gpu.sm_count = row.count_if("sm_count");
  gpu.confidence = row.text_if("spec_confidence");
  std::string key = row.text_if("spec_source");
  gpu.spec_source = file.source(key);
  if (!key.empty() && gpu.spec_source.empty()) row.refuse("no source is called '" + key + "'");
  key = row.text_if("capability_page");
  gpu.capability_page = file.source(key);
  if (!key.empty() && gpu.capability_page.empty()) row.refuse("no source is called '" + key + "'");
}

// Facts that belong to the capability, not to the card.
void add_derived(const LoadRules& rules, const std::vector<Capability>& capabilities, Gpu& gpu,
                 FactRow& row) {
  auto capability = std::find_if(capabilities.begin(), capabilities.end(),
                                 [&](const Capability& c) { return c.sm == gpu.sm; });
  if (capability == capabilities.end()) {
    row.refuse("the table 'capability' has no row for " + std::to_string(gpu.sm));
    return;
  }
  gpu.architecture = capability->architecture;
  gpu.tegra = std::find(rules.tegra.begin(), rules.tegra.end(), gpu.sm) != rules.tegra.end();
  if (gpu.tegra) return; // its driver comes with JetPack
  for (const ArchitectureEnd& end : rules.ends)
    if (gpu.sm >= end.first_sm && gpu.sm <= end.last_sm) gpu.last_driver_branch = end.last_branch;
}

} // namespace

void read_gpus(FactFile& file, const LoadRules& rules, GpuTables& tables) {
  for (const PackedRow& packed : file.rows("capability")) {
    FactRow row(file, packed);
    Capability capability;
    capability.sm = row.count("sm");
    capability.architecture = row.text("architecture");
    capability.year = row.count_if("year");
    capability.examples = row.text_if("examples");
    capability.last_cuda = row.text_if("last_cuda");
    capability.note = row.text_if("note");
    capability.source = row.source();
    row.end();
    tables.capabilities.push_back(std::move(capability));
  }
  const std::vector<PackedRow>& rows = file.rows("gpu");
  tables.gpus.reserve(rows.size());
  for (const PackedRow& packed : rows) {
    FactRow row(file, packed);
    Gpu& gpu = tables.gpus.emplace_back();
    gpu.name = row.text("name");
    gpu.sm = row.count("sm");
    gpu.aliases = row.list("aliases");
    gpu.chips = row.list("chips");
    gpu.segment = row.text("segment");
    gpu.mobile = row.flag("mobile");
    gpu.pci_ids = row.list("pci");
    for (std::string& id : gpu.pci_ids)
      id.insert(0, "10de:");
    gpu.first_driver = row.text_if("first_driver");
    read_specifications(row, file, gpu);
    gpu.note = row.text_if("note");
    gpu.source = row.source();
    add_derived(rules, tables.capabilities, gpu, row);
    row.end();
  }
}

} // namespace gpuvet
