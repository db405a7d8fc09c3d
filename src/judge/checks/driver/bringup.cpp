// Checks of GPUs that are on the bus and did not come up, or that belong to another driver.
#include "judge/checks/driver/parts.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

namespace gpuvet::driver {
namespace {

Outcome no_gpu(const Machine& machine, const Facts&) {
  const Surroundings& around = machine.surroundings;
  if (around.wsl || around.jetson) return not_applicable("the GPU is not on a PCI bus here");
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  if (!pci_gpus(machine).empty()) return ok("GPUs are on the PCI bus");
  if (!machine.nvml.gpus.empty()) return ok("NVML lists GPUs");
  std::vector<std::string> evidence{machine.kernel.functions.source +
                                    ": no display or 3D controller of NVIDIA"};
  if (module_loaded(machine, "nvidia")) evidence.emplace_back("/proc/modules: nvidia is loaded");
  for (std::string& line :
       log_evidence(machine, {"NVRM: No NVIDIA GPU found", "NVRM: No NVIDIA PCI devices found",
                              "NVRM: No NVIDIA devices probed"}))
    evidence.push_back(std::move(line));
  if (evidence.size() == 1) return not_applicable("no GPU of NVIDIA and no driver at work");
  if (around.hypervisor && *around.hypervisor != "none")
    evidence.push_back(
        fmt::format("{}: virtual machine ({})", around.hypervisor.source, *around.hypervisor));
  return fires(std::move(evidence));
}

Outcome bar_missing(const Machine& machine, const Facts& facts) {
  if (auto answer = every_gpu_served(machine)) return *answer;
  std::vector<std::string> lines = log_evidence(
      machine, {"M @ 0x0 (PCI:", "BAR 0: no space for", "BAR 1: no space for",
                "BAR 1: failed to assign", "BAR 3: failed to assign", "can't assign; no space"});
  for (const PciFunction* function : unserved_gpus(machine)) {
    for (size_t bar : {size_t{0}, size_t{1}, size_t{3}}) {
      if (bar >= function->bars.size()) continue;
      const PciFunction::Bar& region = function->bars[bar];
      if (region.start != 0 || region.size == 0) continue;
      std::vector<std::string> evidence{
          fmt::format("/sys/bus/pci/devices/{}/resource: BAR{} of {} MiB has no address",
                      function->address, bar, region.size >> 20U)};
      evidence.insert(evidence.end(), lines.begin(), lines.end());
      Outcome outcome = fires(std::move(evidence), {{"gpu", gpu_label(*function, facts)},
                                                    {"bar", fmt::format("{}", bar)}});
      outcome.severity = by_others(machine);
      return outcome;
    }
  }
  if (log_evidence(machine, {"M @ 0x0 (PCI:"}).empty()) return ok("every BAR has an address");
  return fires(lines, {{"gpu", "a GPU"}, {"bar", ""}});
}

// RmInitAdapter's three numbers name the step that failed; the lines beside it tell more.
Outcome init_failed(const Machine& machine, const Facts&) {
  const KernelLog& log = machine.kernel.log;
  if (!log.lines) return not_known("the kernel log cannot be read: " + log.lines.why_unknown);
  std::vector<std::string> evidence = log_evidence(machine, {"RmInitAdapter failed!"});
  if (evidence.empty()) return ok("no such line in the kernel log");
  bool known = static_cast<bool>(machine.kernel.functions);
  if (known && unserved_gpus(machine).empty())
    return ok("every GPU works now; the log tells of before");
  Outcome outcome = fires(evidence, {{"gpu", "a GPU"}, {"code", ""}});
  for (const LogLine& line : *log.lines) {
    size_t at = line.text.find("RmInitAdapter failed!");
    if (at == std::string::npos) continue;
    size_t gpu = line.text.find("GPU "), open = line.text.find('(', at);
    if (gpu != std::string::npos && gpu < at) {
      std::string address = line.text.substr(gpu + 4, at - gpu - 4);
      outcome.fields["gpu"] = "GPU " + address.substr(0, address.find_first_of(": ", 11));
    }
    if (open != std::string::npos) outcome.fields["code"] = line.text.substr(open);
  }
  outcome.severity = by_others(machine);
  return outcome;
}

// Some GPUs are held by another driver while nvidia serves the rest.
Outcome held_by_other(const Machine& machine, const Facts& facts) {
  if (auto answer = every_gpu_served(machine)) return *answer;
  if (!module_loaded(machine, "nvidia")) return not_applicable("the nvidia module is not loaded");
  std::vector<std::string> evidence;
  Outcome outcome = fires({}, {});
  for (const PciFunction* gpu : unserved_gpus(machine)) {
    if (gpu->driver.empty() || gpu->driver == "nvidia") continue;
    evidence.push_back(
        fmt::format("/sys/bus/pci/devices/{}/driver: {}", gpu->address, gpu->driver));
    outcome.fields = {
        {"gpu", gpu_label(*gpu, facts)}, {"driver", gpu->driver}, {"address", gpu->address}};
  }
  if (evidence.empty()) return ok("no other driver holds a GPU");
  outcome.evidence = std::move(evidence);
  outcome.severity = by_others(machine);
  return outcome;
}

Outcome for_virtual_machines(const Machine& machine, const Facts& facts) {
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  std::vector<std::string> evidence;
  std::map<std::string, std::string> fields;
  for (const PciFunction* gpu : pci_gpus(machine)) {
    if (!gpu->driver.starts_with("vfio")) continue;
    evidence.push_back(
        fmt::format("/sys/bus/pci/devices/{}/driver: {}", gpu->address, gpu->driver));
    fields.emplace("gpu", gpu_label(*gpu, facts));
    fields.emplace("address", gpu->address);
  }
  if (pci_gpus(machine).empty()) return not_applicable("no GPU of NVIDIA is on the PCI bus");
  if (evidence.empty()) return ok("no GPU is reserved for virtual machines");
  fields["count"] = counted(evidence.size(), "GPU");
  return fires(std::move(evidence), std::move(fields));
}

Outcome excluded(const Machine& machine, const Facts&) {
  if (!module_loaded(machine, "nvidia")) return not_applicable("the nvidia module is not loaded");
  std::vector<std::string> evidence;
  for (const char* name : {"ExcludedGpus", "GpuBlacklist"}) {
    auto at = machine.kernel.proc_params.find(name);
    if (at != machine.kernel.proc_params.end() && !at->second.empty() && at->second != "(null)")
      evidence.push_back(fmt::format("/proc/driver/nvidia/params: {}: {}", name, at->second));
  }
  std::string gpus;
  for (const auto& [address, information] : machine.kernel.proc_gpu_information) {
    auto at = information.find("GPU Excluded");
    if (at == information.end() || at->second != "Yes") continue;
    gpus += (gpus.empty() ? "" : ", ") + address;
    evidence.push_back(
        fmt::format("/proc/driver/nvidia/gpus/{}/information: GPU Excluded: Yes", address));
  }
  if (evidence.empty()) return ok("no GPU is excluded");
  return fires(std::move(evidence), {{"gpus", gpus.empty() ? "some" : gpus}});
}

// The kernel has the GPU, nvidia is loaded, and yet nothing drives it.
Outcome unbound(const Machine& machine, const Facts& facts) {
  if (auto answer = every_gpu_served(machine)) return *answer;
  if (!module_loaded(machine, "nvidia")) return not_applicable("the nvidia module is not loaded");
  for (const PciFunction* gpu : unserved_gpus(machine)) {
    if (!gpu->driver.empty()) continue;
    std::vector<std::string> evidence{
        fmt::format("/sys/bus/pci/devices/{}/driver: none", gpu->address)};
    for (std::string& line : log_evidence(machine, {"probe routine failed", gpu->address}))
      evidence.push_back(std::move(line));
    Outcome outcome =
        fires(std::move(evidence), {{"gpu", gpu_label(*gpu, facts)}, {"address", gpu->address}});
    outcome.severity = by_others(machine);
    return outcome;
  }
  return ok("every GPU has a driver");
}

// Bound to nvidia and still not in NVML's list: the cause is open.
Outcome not_in_nvml(const Machine& machine, const Facts& facts) {
  if (in_container(machine)) return not_applicable("a container may see some of the GPUs only");
  if (auto answer = every_gpu_served(machine)) return *answer;
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer: " + machine.nvml.asked.problem);
  std::vector<std::string> evidence;
  std::string gpus;
  for (const PciFunction* gpu : unserved_gpus(machine)) {
    if (gpu->driver != "nvidia" || nvml_gpu_at(machine, gpu->address)) continue;
    evidence.push_back(fmt::format("/sys/bus/pci/devices/{}/driver: nvidia", gpu->address));
    gpus += (gpus.empty() ? "" : ", ") + gpu_label(*gpu, facts);
  }
  if (evidence.empty()) return ok("NVML lists every GPU that nvidia drives");
  evidence.push_back(fmt::format("nvmlDeviceGetCount_v2: {}", machine.nvml.count.value_or(0)));
  Outcome outcome = fires(std::move(evidence), {{"gpus", gpus}});
  outcome.severity = by_others(machine);
  return outcome;
}

} // namespace

CheckList bringup_checks() {
  return {
      {"no-gpu-on-bus", no_gpu},
      {"bar-not-assigned", bar_missing},
      {"gpu-init-failed", init_failed},
      {"gpu-held-by-other-driver", held_by_other},
      {"gpu-for-virtual-machines", for_virtual_machines},
      {"gpu-excluded", excluded},
      {"gpu-without-driver", unbound},
      {"gpu-not-in-nvml", not_in_nvml},
  };
}

} // namespace gpuvet::driver
