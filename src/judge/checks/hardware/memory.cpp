// Checks of GPU memory: ECC, rows and pages taken out of use, InfoROM, size.
#include "base/units.hpp"
#include "judge/checks/hardware/parts.hpp"
#include "judge/doctor/diagnose.hpp"

#include <algorithm>

namespace gpuvet::hardware {
namespace {

Outcome remap_pending(const Machine& machine, const Facts&) {
  return each_gpu(machine, &NvmlGpu::remap_pending, "nvmlDeviceGetRemappedRows",
                  [](const NvmlGpu&, bool pending) { return pending ? "pending" : ""; });
}

Outcome remap_failed(const Machine& machine, const Facts&) {
  return each_gpu(machine, &NvmlGpu::remap_failed, "nvmlDeviceGetRemappedRows",
                  [](const NvmlGpu&, bool failed) { return failed ? "a remapping failed" : ""; });
}

// A few rows are replaced in the life of a GPU. DCGM calls 512 the limit.
Outcome rows_replaced(const Machine& machine, const Facts&) {
  constexpr uint32_t limit = 512;
  uint32_t most = 0;
  Outcome outcome =
      each_gpu(machine, &NvmlGpu::remapped_uncorrectable, "nvmlDeviceGetRemappedRows",
               [&](const NvmlGpu&, uint32_t rows) {
                 most = std::max(most, rows);
                 return rows == 0 ? std::string()
                                  : counted(rows, "row") + " replaced after uncorrectable errors";
               });
  if (outcome.answer == Answer::fires && most > limit) outcome.severity = Severity::error;
  return outcome;
}

Outcome retirement_pending(const Machine& machine, const Facts&) {
  return each_gpu(machine, &NvmlGpu::retired_pending, "nvmlDeviceGetRetiredPagesPendingStatus",
                  [](const NvmlGpu&, bool pending) { return pending ? "pending" : ""; });
}

Outcome uncorrected(const Machine& machine, const Facts&) {
  return each_gpu(machine, &NvmlGpu::ecc_uncorrected, "nvmlDeviceGetTotalEccErrors",
                  [](const NvmlGpu& gpu, uint64_t errors) {
                    if (errors == 0) return std::string();
                    std::string text =
                        counted(errors, "uncorrected error") + " since the last reset";
                    if (gpu.ecc_uncorrected_aggregate)
                      text += fmt::format(", {} in its life", *gpu.ecc_uncorrected_aggregate);
                    return text;
                  });
}

Outcome sram_threshold(const Machine& machine, const Facts&) {
  return each_gpu(machine, &NvmlGpu::sram_threshold_exceeded, "nvmlDeviceGetSramEccErrorStatus",
                  [](const NvmlGpu&, bool over) { return over ? "threshold exceeded" : ""; });
}

Outcome inforom(const Machine& machine, const Facts&) {
  auto not_asked = [](const NvmlGpu& gpu) {
    return gpu.error == 0 && !gpu.inforom_ok && gpu.inforom_ok.error == kNvmlNotAsked;
  };
  const auto& gpus = machine.nvml.gpus;
  if (!gpus.empty() && std::all_of(gpus.begin(), gpus.end(), not_asked))
    return not_known("it was not read, as that holds the driver for a while (70 ms on an H200); "
                     "gpuvet doctor -v and gpuvet snapshot read it");
  return each_gpu(machine, &NvmlGpu::inforom_ok, "nvmlDeviceValidateInforom",
                  [](const NvmlGpu&, bool sound) { return sound ? "" : "corrupted"; });
}

Outcome ecc_off(const Machine& machine, const Facts& facts) {
  std::vector<std::string> segments = gpu_segments(machine, facts);
  bool server = std::find(segments.begin(), segments.end(), "datacenter") != segments.end();
  if (!server) return not_applicable("these are not data-centre GPUs");
  return each_gpu(machine, &NvmlGpu::ecc, "nvmlDeviceGetEccMode", [](const NvmlGpu& gpu, bool on) {
    bool coming = gpu.ecc_pending && *gpu.ecc_pending;
    return on || coming ? "" : "off";
  });
}

Outcome ecc_pending(const Machine& machine, const Facts&) {
  return each_gpu(machine, &NvmlGpu::ecc, "nvmlDeviceGetEccMode", [](const NvmlGpu& gpu, bool on) {
    bool changes = gpu.ecc_pending && *gpu.ecc_pending != on;
    return changes ? fmt::format("{} now, {} after the next reset", on ? "on" : "off",
                                 on ? "off" : "on")
                   : std::string();
  });
}

// Less memory than any card of the name was sold with: rows were given up, or it is a slice.
Outcome smaller_than_sold(const Machine& machine, const Facts& facts) {
  constexpr double share = 0.85; // ECC on GDDR takes a sixteenth, the driver a little
  auto table = facts.gpus();
  if (!table) return not_known("the table of GPUs cannot be read");
  Outcome outcome =
      each_gpu(machine, &NvmlGpu::memory_total, "nvmlDeviceGetMemoryInfo",
               [&](const NvmlGpu& gpu, uint64_t bytes) {
                 const Gpu* known = gpu.name.empty() ? nullptr : find_gpu(**table, gpu.name).gpu;
                 bool whole = !gpu.virtualization || *gpu.virtualization != 2; // no vGPU
                 if (!known || known->memory_sizes_gb.empty() || !whole || known->tegra)
                   return std::string();
                 double least = *std::min_element(known->memory_sizes_gb.begin(),
                                                  known->memory_sizes_gb.end());
                 if (static_cast<double>(bytes) >= share * least * 1e9) return std::string();
                 return fmt::format("{}, sold with {} GB", human_bytes(bytes), least);
               });
  if (outcome.answer == Answer::ok) outcome.why = "every GPU has the memory it was sold with";
  return outcome;
}

} // namespace

CheckList memory_checks() {
  return {
      {"row-remap-pending", remap_pending}, {"row-remap-failed", remap_failed},
      {"rows-remapped", rows_replaced},     {"page-retirement-pending", retirement_pending},
      {"ecc-uncorrected", uncorrected},     {"sram-threshold-exceeded", sram_threshold},
      {"inforom-corrupted", inforom},       {"ecc-off", ecc_off},
      {"ecc-change-pending", ecc_pending},  {"gpu-memory-smaller-than-sold", smaller_than_sold},
  };
}

} // namespace gpuvet::hardware
