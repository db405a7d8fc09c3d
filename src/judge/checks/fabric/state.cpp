// Checks of the registration with the fabric, of confidential computing and of IMEX.
#include "judge/checks/fabric/parts.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet::fabric {
namespace {

// The manager runs, versions fit, and a GPU still is not registered.
Outcome not_registered(const Machine& machine, const Facts&) {
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer: " + machine.nvml.asked.problem);
  std::vector<std::string> evidence;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.fabric_state && (*gpu.fabric_state == kNotStarted || *gpu.fabric_state == kInProgress))
      evidence.push_back(state_evidence(gpu));
  if (evidence.empty()) {
    if (any_state(machine, kCompleted)) return ok("every GPU is registered with the fabric");
    return not_applicable("these GPUs belong to no fabric");
  }
  bool outside = in_container(machine) || nvswitches(machine).empty();
  if (outside) return not_applicable("the fabric is managed outside");
  add_manager_lines(machine, evidence);
  add_cuda(machine, evidence);
  return fires(std::move(evidence), version_fields(machine));
}

// In a container, or in a virtual machine without the switches: only the provider can mend it.
Outcome not_registered_outside(const Machine& machine, const Facts&) {
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer: " + machine.nvml.asked.problem);
  bool waits = any_state(machine, kNotStarted) || any_state(machine, kInProgress);
  if (!waits)
    return any_state(machine, kCompleted) ? ok("every GPU is registered")
                                          : not_applicable("no fabric is seen here");
  bool container = in_container(machine);
  if (!container && !nvswitches(machine).empty())
    return not_applicable("the fabric is managed on this machine");
  const Observed<std::string>& hypervisor = machine.surroundings.hypervisor;
  bool guest = hypervisor && *hypervisor != "none";
  if (!container && !guest && service_at(machine, kManagerUnit))
    return not_applicable("a fabric manager is installed here");
  std::vector<std::string> evidence;
  add_states(machine, evidence);
  add_cuda(machine, evidence);
  evidence.push_back(container ? machine.surroundings.container.source + ": this is a container"
                     : guest   ? hypervisor.source + ": virtual machine (" + *hypervisor + ")"
                               : machine.kernel.functions.source + ": no NVSwitch");
  Outcome outcome = fires(std::move(evidence));
  if (container || guest) return outcome;
  return likely(std::move(outcome), "who manages the fabric of this machine");
}

Outcome registration_failed(const Machine& machine, const Facts&) {
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer: " + machine.nvml.asked.problem);
  std::vector<std::string> evidence;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.fabric_state && *gpu.fabric_state == kCompleted && gpu.fabric_status &&
        *gpu.fabric_status != 0)
      evidence.push_back(
          nvml_evidence("nvmlDeviceGetGpuFabricInfo", gpu,
                        fmt::format("completed with status {}", *gpu.fabric_status)));
  if (evidence.empty())
    return any_state(machine, kCompleted) ? ok("registration went well")
                                          : not_applicable("these GPUs belong to no fabric");
  add_manager_lines(machine, evidence);
  return fires(std::move(evidence));
}

Outcome not_ready(const Machine& machine, const Facts&) {
  if (!machine.nvml.confidential_computing)
    return machine.nvml.asked.state == AskState::answered
               ? not_applicable("this driver does not tell of confidential computing")
               : not_known("NVML did not answer: " + machine.nvml.asked.problem);
  if (!*machine.nvml.confidential_computing) return not_applicable("confidential computing is off");
  if (!machine.nvml.confidential_ready)
    return not_known("the ready state: nvidia-smi conf-compute -grs");
  if (*machine.nvml.confidential_ready) return ok("the GPUs are set ready");
  std::vector<std::string> evidence{"nvmlSystemGetConfComputeState: on",
                                    "nvmlSystemGetConfComputeGpusReadyState: not ready"};
  add_cuda(machine, evidence);
  return fires(std::move(evidence));
}

// One side is confidential and the other is not.
Outcome mode_differs(const Machine& machine, const Facts&) {
  const std::string& guest = machine.surroundings.confidential_guest;
  std::vector<std::string> lines =
      log_evidence(machine, {"Confidential Compute", "CC mode", "CC-mode"});
  if (!machine.nvml.confidential_computing && guest.empty())
    return not_applicable("nothing here is confidential");
  if (!machine.nvml.confidential_computing)
    return not_known("the mode of the GPUs: nvidia-smi conf-compute -f");
  bool gpus = *machine.nvml.confidential_computing;
  if (gpus == !guest.empty()) return ok("machine and GPUs agree");
  // A bare-metal host may not show what its guests are.
  if (gpus && (!machine.surroundings.hypervisor || *machine.surroundings.hypervisor == "none"))
    return not_applicable("this is no virtual machine");
  std::vector<std::string> evidence{
      fmt::format("nvmlSystemGetConfComputeState: {}", gpus ? "on" : "off"),
      guest.empty() ? "no TDX or SEV-SNP guest device" : "confidential guest: " + guest};
  evidence.insert(evidence.end(), lines.begin(), lines.end());
  Outcome outcome = fires(std::move(evidence), {{"gpus", gpus ? "on" : "off"},
                                                {"guest", guest.empty() ? "plain" : guest}});
  if (!gpus) outcome.severity = Severity::warning;
  return outcome;
}

Outcome imex_channel(const Machine& machine, const Facts&) {
  if (!machine.kernel.char_majors) return not_known(machine.kernel.char_majors.why_unknown);
  auto major = machine.kernel.char_majors->find("nvidia-caps-imex-channels");
  if (major == machine.kernel.char_majors->end())
    return not_applicable("this driver has no IMEX channels");
  if (!is_rack_scale(machine)) return not_applicable("this is no rack-scale NVLink system");
  std::string path = "/dev/nvidia-caps-imex-channels/channel0";
  if (node_at(machine, path)) return ok(path + " is there");
  return fires({fmt::format("{}: nvidia-caps-imex-channels {}", machine.kernel.char_majors.source,
                            major->second),
                path + ": not there"},
               {{"major", fmt::format("{}", major->second)}});
}

} // namespace

CheckList state_checks() {
  return {
      {"fabric-not-registered", not_registered},
      {"fabric-not-registered-outside", not_registered_outside},
      {"fabric-registration-failed", registration_failed},
      {"confidential-gpu-not-ready", not_ready},
      {"confidential-mode-differs", mode_differs},
      {"imex-channel-missing", imex_channel},
  };
}

} // namespace gpuvet::fabric
