// Checks of PCI Express: speed and width under load, errors, what sits above the GPU.
#include "judge/checks/hardware/parts.hpp"
#include "judge/doctor/diagnose.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace gpuvet::hardware {
namespace {

// "16.0 GT/s PCIe" -> 16
double speed_of(const std::string& text) {
  double speed = 0;
  std::from_chars(text.data(), text.data() + text.size(), speed);
  return speed;
}

std::string generation_text(const NvmlGpu& gpu, uint32_t now, uint32_t most) {
  return fmt::format("generation {} at {} % load, {} possible", now, *gpu.utilisation_percent,
                     most);
}

// Slow while the GPU works; idle it steps down to generation 1, as it should.
template <bool stuck> Outcome link_slow(const Machine& machine, const Facts&) {
  bool busy = std::any_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(), is_busy);
  Outcome outcome =
      each_gpu(machine, &NvmlGpu::link_generation, "nvmlDeviceGetCurrPcieLinkGeneration",
               [](const NvmlGpu& gpu, uint32_t now) {
                 bool slow =
                     is_busy(gpu) && gpu.link_generation_max && now < *gpu.link_generation_max;
                 if (!slow || (now == 1) != stuck) return std::string();
                 return generation_text(gpu, now, *gpu.link_generation_max);
               });
  if (outcome.answer == Answer::ok)
    outcome.why = busy ? "links of busy GPUs run at full speed"
                       : "no GPU is busy: a link steps down when idle";
  return outcome;
}

Outcome width_reduced(const Machine& machine, const Facts&) {
  bool busy = false;
  Outcome outcome = each_gpu(machine, &NvmlGpu::link_width, "nvmlDeviceGetCurrPcieLinkWidth",
                             [&](const NvmlGpu& gpu, uint32_t now) {
                               if (!gpu.link_width_max || now >= *gpu.link_width_max)
                                 return std::string();
                               busy |= is_busy(gpu);
                               return fmt::format("x{} of x{}{}", now, *gpu.link_width_max,
                                                  is_busy(gpu) ? " under load" : ", idle");
                             });
  if (outcome.answer != Answer::fires || busy) return outcome;
  outcome.severity = Severity::warning;
  return likely(std::move(outcome), "the width under load: some boards narrow an idle link");
}

// The slot, a riser or a switch is slower than the card. Often by design.
Outcome slot_limits(const Machine& machine, const Facts& facts) {
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  if (pci_gpus(machine).empty()) return not_applicable("no GPU of NVIDIA is on the PCI bus");
  std::vector<std::string> evidence;
  std::map<std::string, std::string> fields;
  bool told = false;
  for (const PciFunction* gpu : pci_gpus(machine)) {
    double card = speed_of(gpu->link_speed_max), port = speed_of(gpu->port_speed_max);
    bool widths = gpu->link_width_max && gpu->port_width_max;
    told |= widths || (card > 0 && port > 0);
    bool slower = card > 0 && port > 0 && port < card;
    bool narrower = widths && *gpu->port_width_max < *gpu->link_width_max;
    if (!slower && !narrower) continue;
    std::string above = fmt::format("{} x{}", gpu->port_speed_max, gpu->port_width_max.value_or(0));
    std::string below = fmt::format("{} x{}", gpu->link_speed_max, gpu->link_width_max.value_or(0));
    evidence.push_back(fmt::format("/sys/bus/pci/devices/{}: {}; port {}: {}", gpu->address, below,
                                   gpu->port_address, above));
    fields.emplace("gpu", gpu_label(*gpu, facts));
    fields.emplace("port", above);
    fields.emplace("card", below);
  }
  if (!told) return not_known("the kernel tells no link speeds");
  if (evidence.empty()) return ok("every slot has its card's speed and width");
  return fires(std::move(evidence), std::move(fields));
}

std::optional<double> minutes_up(const Machine& machine) {
  if (!machine.system.now || !machine.system.booted) return std::nullopt;
  double minutes = static_cast<double>(*machine.system.now - *machine.system.booted) / 60;
  return std::max(minutes, 1.0);
}

// By DCGM a link of generation g may replay as often as a bit error rate of 1e-12 on all lanes
// gives.
Outcome replays(const Machine& machine, const Facts&) {
  std::optional<double> minutes = minutes_up(machine);
  if (!minutes) return not_known("how long the machine runs");
  return each_gpu(machine, &NvmlGpu::replays, "nvmlDeviceGetPcieReplayCounter",
                  [&](const NvmlGpu& gpu, uint64_t count) {
                    constexpr std::array<double, 6> gigabits = {2.5, 5, 8, 16, 32, 64};
                    size_t generation = std::clamp<size_t>(
                        gpu.link_generation_max ? *gpu.link_generation_max : 1, 1, gigabits.size());
                    double lanes = gpu.link_width_max ? *gpu.link_width_max : 16;
                    double allowed = std::ceil(gigabits.at(generation - 1) / 1000 * 60 * lanes);
                    double rate = static_cast<double>(count) / *minutes;
                    return rate > allowed
                               ? fmt::format("{} since boot, {:.0f} a minute; {:.0f} are normal",
                                             count, rate, allowed)
                               : std::string();
                  });
}

// The counters need no root. DCGM's test allows 32 corrected errors a minute.
Outcome bus_errors(const Machine& machine, const Facts& facts) {
  constexpr double corrected_a_minute = 32;
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  std::optional<double> minutes = minutes_up(machine);
  std::vector<std::string> evidence;
  std::string gpus;
  bool told = false;
  for (const PciFunction* gpu : pci_gpus(machine)) {
    told |= gpu->aer_correctable || gpu->aer_nonfatal || gpu->aer_fatal;
    uint64_t fatal = gpu->aer_fatal.value_or(0), nonfatal = gpu->aer_nonfatal.value_or(0);
    double rate = minutes ? static_cast<double>(gpu->aer_correctable.value_or(0)) / *minutes : 0;
    if (fatal == 0 && nonfatal == 0 && rate <= corrected_a_minute) continue;
    evidence.push_back(fmt::format("/sys/bus/pci/devices/{}/aer_dev_*: {} fatal, {} non-fatal, {} "
                                   "corrected since boot",
                                   gpu->address, fatal, nonfatal,
                                   gpu->aer_correctable.value_or(0)));
    gpus += (gpus.empty() ? "" : ", ") + gpu_label(*gpu, facts);
  }
  if (pci_gpus(machine).empty()) return not_applicable("no GPU of NVIDIA is on the PCI bus");
  if (!told) return not_known("this kernel counts no PCIe errors (AER)");
  if (evidence.empty()) return ok("PCIe errors are within the normal");
  for (std::string& line : log_evidence(machine, {"PCIe Bus Error: severity="}))
    evidence.push_back(std::move(line));
  return fires(std::move(evidence), {{"gpus", gpus}});
}

// Power saving of the port trains the link again and again; where that goes wrong, the GPU drops.
Outcome port_sleeps(const Machine& machine, const Facts& facts) {
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  for (const PciFunction* gpu : pci_gpus(machine)) {
    uint64_t errors = gpu->aer_fatal.value_or(0) + gpu->aer_nonfatal.value_or(0);
    bool lost = std::any_of(
        machine.kernel.xids.begin(), machine.kernel.xids.end(), [&](const XidEvent& event) {
          return event.code == 79 && same_address(event.pci_address, gpu->address);
        });
    bool trouble = errors > 0 || lost || gpu->config_all_ones.value_or(false);
    if (gpu->port_runtime_power != "auto" || !trouble) continue;
    return fires({fmt::format("/sys/bus/pci/devices/{}/power/control: auto", gpu->port_address),
                  fmt::format("/sys/bus/pci/devices/{}/aer_dev_*: {} fatal and non-fatal errors",
                              gpu->address, errors)},
                 {{"gpu", gpu_label(*gpu, facts)}, {"port", gpu->port_address}});
  }
  if (pci_gpus(machine).empty()) return not_applicable("no GPU of NVIDIA is on the PCI bus");
  return ok("no port that saves power has trouble");
}

// The window through which the CPU and other devices reach GPU memory.
Outcome window_small(const Machine& machine, const Facts& facts) {
  constexpr uint64_t small = 256ULL << 20U;
  constexpr uint32_t first_sm = 80; // Ampere boards can resize it
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  std::vector<std::string> evidence;
  std::string gpus;
  for (const PciFunction* gpu : pci_gpus(machine)) {
    const Gpu* known = gpu_by_id(facts, gpu->id);
    if (gpu->bars.size() < 2 || !known || known->sm < first_sm || known->mobile) continue;
    uint64_t size = gpu->bars[1].size;
    if (size == 0 || size > small) continue;
    evidence.push_back(
        fmt::format("/sys/bus/pci/devices/{}/resource: BAR1 of {} MiB", gpu->address, size >> 20U));
    gpus += (gpus.empty() ? "" : ", ") + gpu_label(*gpu, facts);
  }
  if (pci_gpus(machine).empty()) return not_applicable("no GPU of NVIDIA is on the PCI bus");
  if (evidence.empty()) return ok("no GPU has a small memory window that could be larger");
  return fires(std::move(evidence), {{"gpus", gpus}});
}

// The IOMMU refused a transfer of a GPU: driver and IOMMU do not agree on what is mapped.
Outcome iommu_fault(const Machine& machine, const Facts& facts) {
  if (!machine.kernel.log.lines)
    return not_known("the kernel log cannot be read: " + machine.kernel.log.lines.why_unknown);
  for (const PciFunction* gpu : pci_gpus(machine)) {
    if (gpu->address.size() < 8) continue;
    std::string short_address = gpu->address.substr(gpu->address.find(':') + 1);
    std::vector<std::string> evidence;
    for (const LogLine& line : *machine.kernel.log.lines) {
      auto holds = [&](std::string_view text) { return line.text.find(text) != std::string::npos; };
      bool fault = (holds("DMAR") && holds("fault")) || holds("IO_PAGE_FAULT") ||
                   (holds("arm-smmu") && (holds("fault") || holds("event")));
      if (fault && holds(short_address) && evidence.size() < 3)
        evidence.push_back("kernel log: " + line.text);
    }
    if (!evidence.empty()) return fires(std::move(evidence), {{"gpu", gpu_label(*gpu, facts)}});
  }
  return ok("the IOMMU refused no transfer of a GPU");
}

} // namespace

CheckList link_checks() {
  return {
      {"pcie-link-stuck-at-gen1", link_slow<true>},
      {"pcie-link-slow", link_slow<false>},
      {"pcie-width-reduced", width_reduced},
      {"pcie-slot-limits", slot_limits},
      {"pcie-replays", replays},
      {"pcie-errors", bus_errors},
      {"pcie-port-saves-power", port_sleeps},
      {"bar1-small", window_small},
      {"iommu-fault", iommu_fault},
  };
}

} // namespace gpuvet::hardware
