// Checks of GPUs that are gone or answer nothing, and of what differs among the GPUs of a machine.
#include "judge/checks/hardware/parts.hpp"
#include "judge/doctor/diagnose.hpp"

#include <algorithm>
#include <map>

namespace gpuvet::hardware {
namespace {

constexpr int kNoPermission = 4, kInsufficientPower = 8, kLost = 15, kResetRequired = 16;

const XidEvent* xid_event(const Machine& machine, uint32_t code) {
  for (const XidEvent& event : machine.kernel.xids)
    if (!event.sxid && event.code == code) return &event;
  return nullptr;
}

std::string error_text(const NvmlGpu& gpu) {
  std::string code = gpu.error < 0 ? "no answer" : fmt::format("error {}", gpu.error);
  return gpu.error_text.empty() ? code : code + ", " + gpu.error_text;
}

// Config space reads all ones, or NVML has lost the GPU: it no longer answers on the bus.
Outcome off_the_bus(const Machine& machine, const Facts& facts) {
  if (!machine.kernel.functions && machine.nvml.asked.state != AskState::answered)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  std::vector<std::string> evidence;
  std::string gpus;
  auto add = [&](const std::string& gpu, std::string line) {
    evidence.push_back(std::move(line));
    if (gpus.find(gpu) == std::string::npos) gpus += (gpus.empty() ? "" : ", ") + gpu;
  };
  for (const PciFunction* gpu : pci_gpus(machine))
    if (gpu->config_all_ones && *gpu->config_all_ones)
      add(gpu_label(*gpu, facts),
          fmt::format("/sys/bus/pci/devices/{}/config: all ones", gpu->address));
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (gpu.error != kLost) continue;
    std::string name = fmt::format("GPU {}", gpu.index);
    for (const PciFunction* function : pci_gpus(machine))
      if (same_address(function->address, gpu.pci_address)) name = gpu_label(*function, facts);
    add(name, nvml_evidence("nvmlDeviceGetHandleByIndex_v2", gpu, error_text(gpu)));
  }
  if (evidence.empty()) {
    if (pci_gpus(machine).empty() && machine.nvml.gpus.empty())
      return not_applicable("there is no GPU of NVIDIA");
    return ok("every GPU answers on the bus");
  }
  std::vector<std::string> lines = log_evidence(machine, {"fallen off the bus"});
  evidence.insert(evidence.end(), lines.begin(), lines.end());
  if (const XidEvent* event = xid_event(machine, 79); event && lines.empty())
    evidence.push_back(fmt::format("kernel log: Xid 79 (PCI:{})", event->pci_address));
  Outcome outcome = fires(std::move(evidence), {{"gpus", gpus}});
  outcome.severity = by_others(machine);
  return outcome;
}

// One GPU fails and the others work: tools that ask all in one go fail for all.
Outcome no_answer(const Machine& machine, const Facts&) {
  if (auto answer = nvml_silent(machine)) return *answer;
  std::vector<std::string> evidence;
  std::map<std::string, std::string> fields;
  std::string gpus;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    bool other = gpu.error == 0 || gpu.error == kLost || gpu.error == kNoPermission ||
                 gpu.error == kInsufficientPower || gpu.error == kResetRequired;
    if (other) continue;
    evidence.push_back(nvml_evidence("nvmlDeviceGetHandleByIndex_v2", gpu, error_text(gpu)));
    gpus += fmt::format("{}GPU {}", gpus.empty() ? "" : ", ", gpu.index);
    if (gpu.pci_address.empty()) continue;
    gpus += " (" + plain_address(gpu.pci_address) + ")";
    fields.emplace("pci", plain_address(gpu.pci_address));
  }
  if (evidence.empty()) return ok("every GPU answers");
  fields["gpus"] = gpus;
  Outcome outcome = fires(std::move(evidence), std::move(fields));
  outcome.severity = by_others(machine);
  return outcome;
}

// The driver itself says what it takes.
Outcome wants_recovery(const Machine& machine, const Facts&) {
  if (auto answer = nvml_silent(machine)) return *answer;
  static const std::map<uint32_t, std::string> actions = {
      {1, "a reset of the GPU"},
      {2, "a reboot of the machine"},
      {3, "that programs with peer memory end"},
      {4, "that programs with peer memory end, then a reset of the GPU"}};
  Outcome outcome = fires({}, {});
  bool told = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    told |= static_cast<bool>(gpu.recovery_action) || gpu.error == kResetRequired;
    uint32_t action = gpu.recovery_action ? *gpu.recovery_action : 0;
    if (gpu.error == kResetRequired) action = std::max(action, 1U);
    if (action == 0) continue;
    auto named = actions.find(action);
    std::string text = named == actions.end() ? fmt::format("action {}", action) : named->second;
    outcome.evidence.push_back(nvml_evidence("NVML_FI_DEV_GET_GPU_RECOVERY_ACTION", gpu, text));
    bool reboot = action == 2 || action > 4;
    outcome.fields["gpu"] = fmt::format("GPU {}", gpu.index);
    outcome.fields["action"] = text;
    outcome.fields[reboot ? "reboot" : "pci"] = reboot ? "reboot" : plain_address(gpu.pci_address);
  }
  if (!outcome.evidence.empty()) return outcome;
  return told ? ok("no GPU asks for a recovery") : not_known("this driver does not tell it");
}

Outcome power_cable(const Machine& machine, const Facts&) {
  std::vector<std::string> evidence =
      log_evidence(machine, {"does not have the necessary power cables connected"});
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.error == kInsufficientPower)
      evidence.push_back(nvml_evidence("nvmlDeviceGetHandleByIndex_v2", gpu, error_text(gpu)));
  if (const XidEvent* event = xid_event(machine, 54))
    evidence.push_back(fmt::format("kernel log: Xid 54 (PCI:{})", event->pci_address));
  if (!evidence.empty()) return fires(std::move(evidence));
  if (!machine.kernel.log.lines)
    return not_known("the kernel log cannot be read: " + machine.kernel.log.lines.why_unknown);
  return ok("no GPU misses a power cable");
}

Outcome vbios_differs(const Machine& machine, const Facts&) {
  if (auto answer = nvml_silent(machine)) return *answer;
  std::map<std::string, std::map<std::string, std::string>> by_name; // name -> version -> GPUs
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (!gpu.vbios.empty() && !gpu.name.empty()) {
      std::string& gpus = by_name[gpu.name][gpu.vbios];
      gpus += fmt::format("{}GPU {}", gpus.empty() ? "" : ", ", gpu.index);
    }
  if (by_name.empty()) return not_known("NVML tells no VBIOS version");
  for (const auto& [name, versions] : by_name) {
    if (versions.size() < 2) continue;
    Outcome outcome = fires({}, {{"name", name}});
    for (const auto& [version, gpus] : versions)
      outcome.evidence.push_back(fmt::format("nvmlDeviceGetVbiosVersion: {} on {}", version, gpus));
    return outcome;
  }
  return ok("GPUs of one kind have one VBIOS");
}

Outcome display_on_compute_gpu(const Machine& machine, const Facts& facts) {
  if (auto answer = nvml_silent(machine)) return *answer;
  std::vector<std::string> evidence;
  std::string gpus;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    auto table = facts.gpus();
    const Gpu* known = table ? find_gpu(**table, gpu.name).gpu : nullptr;
    if (!known || known->segment != "datacenter" || !gpu.processes) continue;
    auto drawn = std::count_if(gpu.processes.value->begin(), gpu.processes.value->end(),
                               [](const NvmlProcess& process) { return process.graphics; });
    if (drawn == 0) continue;
    evidence.push_back(nvml_evidence("nvmlDeviceGetGraphicsRunningProcesses_v3", gpu,
                                     counted(static_cast<size_t>(drawn), "program")));
    gpus += fmt::format("{}GPU {}", gpus.empty() ? "" : ", ", gpu.index);
  }
  if (evidence.empty()) return ok("no data-centre GPU draws a display");
  return fires(std::move(evidence), {{"gpus", gpus}});
}

// One Xid over and over fills logs and hides others.
Outcome xid_storm(const Machine& machine, const Facts&) {
  constexpr uint64_t many = 1000;
  if (!machine.kernel.log.lines)
    return not_known("the kernel log cannot be read: " + machine.kernel.log.lines.why_unknown);
  std::map<std::pair<uint32_t, std::string>, uint64_t> counts;
  for (const XidEvent& event : machine.kernel.xids)
    counts[{event.code, event.pci_address}] += event.count;
  for (const auto& [event, count] : counts)
    if (count >= many)
      return fires(
          {fmt::format("kernel log: Xid {} (PCI:{}), {} times", event.first, event.second, count)},
          {{"code", fmt::format("{}", event.first)}, {"count", fmt::format("{}", count)}});
  return ok("no Xid repeats without end");
}

// Xid 13 and 31 are the programs' doing, unless one GPU reports them for program after program.
Outcome suspicious_gpu(const Machine& machine, const Facts&) {
  constexpr size_t programs = 3;
  if (!machine.kernel.log.lines)
    return not_known("the kernel log cannot be read: " + machine.kernel.log.lines.why_unknown);
  std::map<std::string, std::map<std::string, bool>> by_gpu; // address -> process
  for (const XidEvent& event : machine.kernel.xids)
    if ((event.code == 13 || event.code == 31) && !event.process.empty())
      by_gpu[event.pci_address][event.process] = true;
  for (const auto& [address, processes] : by_gpu) {
    if (processes.size() < programs || by_gpu.size() > 1 || machine.nvml.gpus.size() < 2) continue;
    Outcome outcome = fires({}, {{"gpu", "GPU " + address}, {"pci", address}});
    for (const auto& [process, seen] : processes)
      outcome.evidence.push_back(
          fmt::format("kernel log: Xid 13 or 31 (PCI:{}): {}", address, process));
    return likely(std::move(outcome), "whether these were different programs, and a test of the "
                                      "GPU (dcgmi diag -r 3)");
  }
  return ok("no GPU stands out");
}

} // namespace

CheckList health_checks() {
  return {
      {"gpu-off-the-bus", off_the_bus},
      {"gpu-does-not-answer", no_answer},
      {"gpu-wants-recovery", wants_recovery},
      {"gpu-power-cable-missing", power_cable},
      {"gpu-vbios-differs", vbios_differs},
      {"display-on-compute-gpu", display_on_compute_gpu},
      {"xid-storm", xid_storm},
      {"gpu-suspicious", suspicious_gpu},
  };
}

} // namespace gpuvet::hardware
