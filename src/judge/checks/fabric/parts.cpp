#include "judge/checks/fabric/parts.hpp"

#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace fabric {

std::vector<const PciFunction*> nvswitches(const Machine& machine) {
  std::vector<const PciFunction*> found;
  if (!machine.kernel.functions) return found;
  for (const PciFunction& function : *machine.kernel.functions)
    if (function.id.starts_with("10de:") && function.device_class >> 8U == 0x0680)
      found.push_back(&function);
  return found;
}

std::string switches_text(size_t count) {
  return fmt::format("{} NVSwitch{}", count, count == 1 ? "" : "es");
}

std::string switches_evidence(const Machine& machine) {
  return fmt::format("{}: {} of NVIDIA (class 0680)", machine.kernel.functions.source,
                     switches_text(nvswitches(machine).size()));
}

bool any_state(const Machine& machine, uint32_t state) {
  return std::any_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(), [&](const NvmlGpu& gpu) {
    return gpu.fabric_state && *gpu.fabric_state == state;
  });
}

bool all_registered(const Machine& machine) {
  return any_state(machine, kCompleted) && !any_state(machine, kNotStarted) &&
         !any_state(machine, kInProgress);
}

std::string state_evidence(const NvmlGpu& gpu) {
  static constexpr const char* names[] = {"not supported", "not started", "in progress",
                                          "completed"};
  uint32_t state = *gpu.fabric_state;
  return nvml_evidence("nvmlDeviceGetGpuFabricInfo", gpu,
                       state < 4 ? names[state] : fmt::format("state {}", state));
}

void add_states(const Machine& machine, std::vector<std::string>& evidence) {
  constexpr size_t shown = 2;
  size_t added = 0;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.fabric_state && *gpu.fabric_state != kCompleted && added++ < shown)
      evidence.push_back(state_evidence(gpu));
}

void add_cuda(const Machine& machine, std::vector<std::string>& evidence) {
  if (machine.cuda.asked.state == AskState::failed)
    evidence.push_back(fmt::format("cuInit: {}", machine.cuda.asked.error));
}

void add_manager_lines(const Machine& machine, std::vector<std::string>& evidence) {
  constexpr size_t shown = 3;
  for (size_t i = 0; i < std::min(shown, machine.fabric_manager.lines.size()); ++i)
    evidence.push_back(machine.fabric_manager.log_file + ": " + machine.fabric_manager.lines[i]);
}

static std::string branch_of(const Machine& machine) {
  return machine.kernel.module_version
             ? machine.kernel.module_version->substr(0, machine.kernel.module_version->find('.'))
             : std::string();
}

std::map<std::string, std::string> version_fields(const Machine& machine) {
  std::map<std::string, std::string> fields;
  if (!machine.kernel.module_version) return fields;
  fields["driver"] = *machine.kernel.module_version;
  fields["branch"] = branch_of(machine);
  return fields;
}

// A host with NVSwitches that it can see, and a driver: there the fabric manager must run.
std::optional<Outcome> no_switches(const Machine& machine) {
  if (machine.surroundings.wsl || machine.surroundings.jetson)
    return not_applicable("there is no NVSwitch here");
  if (in_container(machine)) return not_applicable("the fabric manager runs on the host");
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  if (nvswitches(machine).empty()) return not_applicable("no NVSwitch is on the PCI bus");
  if (machine.kernel.modules && !module_loaded(machine, "nvidia"))
    return not_applicable("the nvidia module is not loaded");
  return std::nullopt;
}

Observed<bool> manager_running(const Machine& machine) {
  const ServiceUnit* unit = service_at(machine, kManagerUnit);
  if (!unit) return unknown<bool>("there is no unit nvidia-fabricmanager");
  if (unit->state == "failed" || unit->state == "inactive")
    return known(false, "systemctl show nvidia-fabricmanager: " + unit->state);
  if (unit->running) return unit->running;
  if (unit->state == "active") return known(true, "systemctl show nvidia-fabricmanager: active");
  return unit->running;
}

bool is_rack_scale(const Machine& machine) {
  return std::any_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(), [](const NvmlGpu& gpu) {
    return gpu.name.find("GB200") != std::string::npos ||
           gpu.name.find("GB300") != std::string::npos;
  });
}

} // namespace fabric

CheckList fabric_checks() {
  CheckList list;
  for (const CheckList& part :
       {fabric::manager_checks(), fabric::state_checks(), fabric::link_checks()})
    list.insert(list.end(), part.begin(), part.end());
  return list;
}

} // namespace gpuvet
