// Checks of the loaded driver: unified memory, suspend, persistence, programs that hang in it.
#include "judge/checks/driver/parts.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet::driver {
namespace {

const std::string* parameter(const Machine& machine, std::string_view module,
                             const std::string& name) {
  if (!machine.kernel.modules) return nullptr;
  for (const KernelModule& loaded : *machine.kernel.modules)
    if (loaded.name == module)
      if (auto at = loaded.parameters.find(name); at != loaded.parameters.end()) return &at->second;
  return nullptr;
}

std::string cuda_evidence(const Machine& machine) {
  const Asked& asked = machine.cuda.asked;
  return fmt::format("cuInit: {}{}", asked.error,
                     asked.error_text.empty() ? "" : " (" + asked.error_text + ")");
}

std::optional<Outcome> module_not_loaded(const Machine& machine) {
  const Surroundings& around = machine.surroundings;
  if (around.wsl || around.jetson) return not_applicable("there is no nvidia module here");
  if (!machine.kernel.modules)
    return not_known("which modules are loaded: " + machine.kernel.modules.why_unknown);
  if (!module_loaded(machine, "nvidia")) return not_applicable("the nvidia module is not loaded");
  return std::nullopt;
}

// The module comes with the first CUDA program, where nvidia-modprobe may load it: only where CUDA
// fails, or where nobody may load it, is its absence a fault.
Outcome uvm_not_loaded(const Machine& machine, const Facts&) {
  if (auto answer = module_not_loaded(machine)) return *answer;
  if (module_loaded(machine, "nvidia_uvm")) return ok("nvidia_uvm is loaded");
  std::vector<std::string> evidence{machine.kernel.modules.source + ": nvidia, but no nvidia_uvm"};
  const AskState cuda = machine.cuda.asked.state;
  if (cuda == AskState::answered) return ok("CUDA starts");
  if (cuda == AskState::failed) {
    evidence.push_back(cuda_evidence(machine));
    return fires(std::move(evidence));
  }
  const Observed<bool>& setuid = machine.kernel.modprobe_setuid;
  if (!setuid) return not_known("whether nvidia-modprobe may load it: " + setuid.why_unknown);
  if (*setuid) return ok("nvidia-modprobe loads it for the first program");
  evidence.push_back(setuid.source + ": not there, or not setuid root");
  Outcome outcome = fires(std::move(evidence));
  outcome.severity = Severity::warning;
  return likely(std::move(outcome), "whether CUDA starts (gpuvet doctor without skipping it)");
}

Outcome uvm_version(const Machine& machine, const Facts&) {
  if (auto answer = module_not_loaded(machine)) return *answer;
  std::string uvm;
  for (const KernelModule& module : *machine.kernel.modules)
    if (module.name == "nvidia_uvm") uvm = module.version;
  if (uvm.empty()) return not_applicable("nvidia_uvm is not loaded, or has no version");
  if (!machine.kernel.module_version) return not_known(machine.kernel.module_version.why_unknown);
  const std::string& nvidia = *machine.kernel.module_version;
  if (uvm == nvidia) return ok("both are " + uvm);
  return fires({"/sys/module/nvidia_uvm/version: " + uvm,
                fmt::format("{}: {}", machine.kernel.module_version.source, nvidia)},
               {{"uvm", uvm}, {"nvidia", nvidia}});
}

// Everything is in place and CUDA still says 999: after a suspend, unified memory's state is lost.
Outcome suspend_broke(const Machine& machine, const Facts&) {
  if (auto answer = module_not_loaded(machine)) return *answer;
  if (machine.cuda.asked.state == AskState::answered) return ok("CUDA starts");
  if (machine.cuda.asked.state != AskState::failed)
    return not_known("whether CUDA starts: " + machine.cuda.asked.problem);
  if (machine.cuda.asked.error != 999) return not_applicable("CUDA fails in another way");
  if (!module_loaded(machine, "nvidia_uvm") || !node_at(machine, "/dev/nvidia-uvm"))
    return not_applicable("nvidia_uvm or its node is missing");
  if (!machine.kernel.suspends)
    return not_known("whether the machine was suspended: journalctl -k | grep 'PM: suspend'");
  if (*machine.kernel.suspends == 0) return ok("not suspended since boot");
  std::vector<std::string> evidence{
      cuda_evidence(machine),
      fmt::format("kernel log: PM: suspend exit, {}", counted(*machine.kernel.suspends, "time"))};
  auto preserve = machine.kernel.proc_params.find("PreserveVideoMemoryAllocations");
  if (preserve != machine.kernel.proc_params.end())
    evidence.push_back("/proc/driver/nvidia/params: PreserveVideoMemoryAllocations: " +
                       preserve->second);
  return fires(std::move(evidence));
}

Outcome suspend_half_set_up(const Machine& machine, const Facts&) {
  if (auto answer = module_not_loaded(machine)) return *answer;
  auto preserve = machine.kernel.proc_params.find("PreserveVideoMemoryAllocations");
  std::vector<std::string> lines =
      log_evidence(machine, {"attempted without driver procfs suspend interface"});
  bool set = preserve != machine.kernel.proc_params.end() && preserve->second == "1";
  if (!set && lines.empty()) return not_applicable("memory is not preserved over a suspend");
  if (lines.empty() && !machine.kernel.suspend_units_enabled)
    return not_known("whether nvidia-suspend.service is enabled: systemctl is-enabled "
                     "nvidia-suspend nvidia-resume");
  if (lines.empty() && *machine.kernel.suspend_units_enabled)
    return ok("the suspend services are enabled");
  std::vector<std::string> evidence{
      "/proc/driver/nvidia/params: PreserveVideoMemoryAllocations: 1"};
  if (machine.kernel.suspend_units_enabled && !*machine.kernel.suspend_units_enabled)
    evidence.emplace_back("/etc/systemd/system: nvidia-suspend.service is not enabled");
  evidence.insert(evidence.end(), lines.begin(), lines.end());
  return fires(std::move(evidence));
}

// Error 3 of cuInit with nvidia-smi fine: HMM of the open nvidia_uvm did not start.
Outcome hmm_failed(const Machine& machine, const Facts&) {
  if (auto answer = module_not_loaded(machine)) return *answer;
  if (machine.cuda.asked.state == AskState::answered) return ok("CUDA starts");
  if (machine.cuda.asked.state != AskState::failed)
    return not_known("whether CUDA starts: " + machine.cuda.asked.problem);
  if (machine.cuda.asked.error != 3) return not_applicable("CUDA fails in another way");
  if (!machine.kernel.flavour) return not_known(machine.kernel.flavour.why_unknown);
  if (*machine.kernel.flavour != Flavour::open)
    return not_applicable("the proprietary module does without HMM");
  const std::string* disabled = parameter(machine, "nvidia_uvm", "uvm_disable_hmm");
  if (disabled && *disabled == "Y") return ok("HMM is switched off");
  Outcome outcome = fires({cuda_evidence(machine), machine.kernel.flavour.source + ": open module",
                           "/sys/module/nvidia_uvm/parameters/uvm_disable_hmm: " +
                               (disabled ? *disabled : std::string("not told"))});
  if (disabled) return outcome;
  return likely(std::move(outcome),
                "whether HMM is on (cat /sys/module/nvidia_uvm/parameters/uvm_disable_hmm)");
}

Outcome persistence_off(const Machine& machine, const Facts& facts) {
  if (machine.surroundings.wsl || in_container(machine))
    return not_applicable("the host keeps the driver loaded");
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer: " + machine.nvml.asked.problem);
  std::vector<std::string> evidence;
  bool asked = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (!gpu.persistence) continue;
    asked = true;
    bool display =
        gpu.processes && std::any_of(gpu.processes.value->begin(), gpu.processes.value->end(),
                                     [](const NvmlProcess& p) { return p.graphics; });
    if (!*gpu.persistence && !display)
      evidence.push_back(nvml_evidence("nvmlDeviceGetPersistenceMode", gpu, "off"));
  }
  if (!asked) return not_known("NVML does not tell the persistence mode");
  if (evidence.empty()) return ok("the driver stays loaded for every GPU");
  bool server = false;
  for (const PciFunction* function : pci_gpus(machine))
    if (const Gpu* gpu = gpu_by_id(facts, function->id)) server |= gpu->segment == "datacenter";
  Outcome outcome = fires(std::move(evidence));
  if (!server) outcome.severity = Severity::info;
  return outcome;
}

Outcome persistenced_failed(const Machine& machine, const Facts&) {
  constexpr uint32_t loop = 5;
  if (in_container(machine)) return not_applicable("services run on the host");
  if (auto answer = module_not_loaded(machine)) return *answer;
  const ServiceUnit* unit = service_at(machine, "nvidia-persistenced.service");
  if (!unit) return not_applicable("nvidia-persistenced is not installed");
  bool loops = unit->restarts && *unit->restarts >= loop;
  if (unit->state == "failed" || loops)
    return fires(
        {fmt::format("systemctl show nvidia-persistenced: {}{}",
                     unit->state.empty() ? "state not told" : unit->state,
                     unit->restarts ? fmt::format(", {} restarts", *unit->restarts) : "")});
  if (unit->enabled && *unit->enabled && unit->running && !*unit->running)
    return fires({unit->enabled.source + ": enabled", "/proc: no process nvidia-persistenced"});
  if (!unit->running && unit->state.empty()) return not_known(unit->running.why_unknown);
  return ok("nvidia-persistenced has no trouble");
}

// A program that sleeps in the driver and takes no signal.
Outcome hung(const Machine& machine, const Facts&) {
  if (!machine.processes) return not_known(machine.processes.why_unknown);
  std::vector<std::string> evidence;
  std::string names;
  for (const GpuProcess& process : *machine.processes) {
    if (!process.state.starts_with("D")) continue;
    evidence.push_back(fmt::format("/proc/{}/stat ({}): state D, waits in {}", process.pid,
                                   process.name,
                                   process.wait.empty() ? "the kernel" : process.wait));
    names += fmt::format("{}{} (pid {})", names.empty() ? "" : ", ", process.name, process.pid);
  }
  std::vector<std::string> lines = log_evidence(machine, {"blocked for more than"});
  std::string because;
  for (const XidEvent& event : machine.kernel.xids) {
    bool of_gpu = event.code == 46 || event.code == 62 || event.code == 79 ||
                  (event.code >= 109 && event.code <= 120) || event.code == 158;
    if (event.sxid || !of_gpu) continue;
    evidence.push_back(fmt::format("kernel log: Xid {} (PCI:{}): {}", event.code, event.pci_address,
                                   event.detail));
    because = fmt::format(" after Xid {} of GPU {}", event.code, event.pci_address);
  }
  bool certain = !lines.empty();
  if (names.empty()) return ok("no GPU program is in uninterruptible sleep");
  evidence.insert(evidence.end(), lines.begin(), lines.end());
  Outcome outcome = fires(std::move(evidence), {{"programs", names}, {"because", because}});
  if (certain) return outcome;
  return likely(std::move(outcome), "whether it stays so: look again in a minute");
}

} // namespace

CheckList state_checks() {
  return {
      {"uvm-not-loaded", uvm_not_loaded},
      {"uvm-version-differs", uvm_version},
      {"suspend-broke-cuda", suspend_broke},
      {"suspend-half-set-up", suspend_half_set_up},
      {"hmm-init-failed", hmm_failed},
      {"persistence-off", persistence_off},
      {"persistenced-failed", persistenced_failed},
      {"program-hangs-in-driver", hung},
  };
}

} // namespace gpuvet::driver
