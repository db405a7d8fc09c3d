// Checks of programs on the GPU and of what watches them.
#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// Less is hardly missed, and may be what the driver keeps for an open GPU.
constexpr uint64_t kMissed = 1ULL << 30U; // bytes
// Memory that an idle GPU holds for itself (firmware, ECC), where NVML does not tell it apart; seen
// up to about 1 GB.
constexpr uint64_t kOwnMemory = 1ULL << 30U; // bytes
constexpr double kOften = 60;                // seconds between calls of nvidia-smi
constexpr uint64_t kMostPower = 35;          // percent of the limit, above which a GPU works
constexpr uint32_t kBusy = 95;               // percent

std::string name_of_gpu(const NvmlGpu& gpu) {
  return gpu.name.empty() ? fmt::format("GPU {}", gpu.index)
                          : fmt::format("GPU {} ({})", gpu.index, gpu.name);
}

std::optional<Outcome> no_nvml(const Machine& machine) {
  if (machine.nvml.asked.state == AskState::answered) return std::nullopt;
  if (!has_gpu(machine)) return not_applicable("there is no GPU");
  return not_known("NVML did not answer (nvidia-smi)");
}

std::string process_text(const GpuProcess& process) {
  return fmt::format("process {} ({})", process.pid, process.name);
}

std::map<std::string, std::string> process_fields(const GpuProcess& process) {
  std::map<std::string, std::string> fields = {{"pid", fmt::format("{}", process.pid)},
                                               {"name", process.name}};
  if (process.unit.ends_with(".service")) fields["unit"] = process.unit;
  return fields;
}

// --- memory -------------------------------------------------------------------------------------

// Who has the GPU's node open; "all" nodes are not of one GPU.
std::vector<const GpuProcess*> holders(const Machine& machine, const NvmlGpu& gpu) {
  std::vector<const GpuProcess*> found;
  if (!machine.processes || !gpu.minor) return found;
  std::string node = fmt::format("/dev/nvidia{}", *gpu.minor);
  for (const GpuProcess& process : *machine.processes)
    if (std::find(process.nodes.begin(), process.nodes.end(), node) != process.nodes.end())
      found.push_back(&process);
  return found;
}

// Memory that programs have allocated; nullopt: not told, or too little to matter. `used` of
// nvmlDeviceGetMemoryInfo holds what is reserved for the driver and firmware too; that of its
// second version, which tells `reserved`, does not (nvml.h, nvmlMemory_t and nvmlMemory_v2_t).
std::optional<uint64_t> allocated(const NvmlGpu& gpu) {
  if (!gpu.memory_used) return std::nullopt;
  const bool apart = gpu.memory_reserved.value.has_value();
  if (*gpu.memory_used < (apart ? kMissed : kMissed + kOwnMemory)) return std::nullopt;
  return *gpu.memory_used;
}

std::string memory_evidence(const NvmlGpu& gpu, uint64_t used) {
  return gpu.memory_reserved
             ? fmt::format("nvmlDeviceGetMemoryInfo_v2(GPU {}): {} used, {} reserved apart from it",
                           gpu.index, human_bytes(used), human_bytes(*gpu.memory_reserved))
             : fmt::format("nvmlDeviceGetMemoryInfo(GPU {}): {} used, the driver's own part in it",
                           gpu.index, human_bytes(used));
}

Outcome memory_without_process(const Machine& machine, const Facts&) {
  if (auto none = no_nvml(machine)) return *none;
  bool told = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (gpu.error != 0 || !gpu.memory_used || !gpu.processes) continue;
    if (gpu.mig && *gpu.mig) continue; // instances have processes of their own
    told = true;
    const std::optional<uint64_t> used = allocated(gpu);
    if (!used || !(*gpu.processes).empty() || !holders(machine, gpu).empty()) continue;
    std::vector<std::string> evidence = {
        memory_evidence(gpu, *used),
        fmt::format("nvmlDeviceGetComputeRunningProcesses(GPU {}): none", gpu.index)};
    Outcome outcome =
        fires(evidence, {{"gpu", name_of_gpu(gpu)},
                         {"used", human_bytes(*used)},
                         {"index", fmt::format("{}", gpu.index)},
                         {"minor", fmt::format("{}", gpu.minor ? *gpu.minor : gpu.index)}});
    bool other_namespace = in_container(machine) || (machine.surroundings.own_pid_namespace &&
                                                     *machine.surroundings.own_pid_namespace);
    if (other_namespace) {
      outcome.severity = Severity::warning;
      return likely(outcome, "which processes run outside of this container; only the host sees "
                             "them (nvidia-smi there)");
    }
    if (!machine.processes)
      return likely(outcome,
                    "who has the GPU's device file open: " + machine.processes.why_unknown);
    bool all_seen = std::all_of(machine.processes->begin(), machine.processes->end(),
                                [](const GpuProcess& process) { return process.ours; });
    if (!all_seen || (machine.system.user && *machine.system.user != 0))
      return likely(outcome, "other users' open files, which only root sees");
    return outcome;
  }
  if (!told) return not_known("NVML does not tell memory and processes here");
  return ok("memory that is taken has a process");
}

Outcome memory_unknown(const Machine& machine, const Facts&) {
  if (auto none = no_nvml(machine)) return *none;
  bool any = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (!gpu.processes) continue;
    for (const NvmlProcess& process : *gpu.processes) {
      any = true;
      if (process.bytes) continue;
      return fires({fmt::format("nvmlDeviceGetComputeRunningProcesses(GPU {}): process {}, memory "
                                "not available",
                                gpu.index, process.pid)},
                   {{"gpu", name_of_gpu(gpu)}});
    }
  }
  return any ? ok("the memory of each process is told") : ok("no process is on a GPU");
}

// --- states -------------------------------------------------------------------------------------

// Memory that is taken on a GPU which nobody else uses; empty: none.
std::string held_memory(const Machine& machine, const GpuProcess& process) {
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    const std::optional<uint64_t> used = allocated(gpu);
    if (!used || !gpu.minor || !gpu.processes) continue;
    std::string node = fmt::format("/dev/nvidia{}", *gpu.minor);
    bool its = std::find(process.nodes.begin(), process.nodes.end(), node) != process.nodes.end();
    if (its && (*gpu.processes).empty()) return memory_evidence(gpu, *used) + "; no process listed";
  }
  return {};
}

Outcome zombie(const Machine& machine, const Facts&) {
  if (!machine.processes) return not_known(machine.processes.why_unknown);
  for (const GpuProcess& process : *machine.processes)
    if (process.state.starts_with('Z')) {
      Outcome outcome = fires({fmt::format("/proc/{}/stat: state {}", process.pid, process.state)},
                              process_fields(process));
      std::string held = held_memory(machine, process);
      outcome.fields["effect"] = "its parent has not taken notice";
      if (held.empty()) {
        outcome.severity = Severity::warning; // it may have let go of everything
        return outcome;
      }
      outcome.evidence.push_back(held);
      outcome.fields["effect"] = "keeps GPU memory";
      return outcome;
    }
  return ok("no zombie holds a GPU");
}

// --- against the driver -------------------------------------------------------------------------

// When the driver was loaded, by its line in the kernel log; seconds since 1970.
std::optional<int64_t> driver_loaded(const Machine& machine) {
  if (!machine.kernel.log.lines || !machine.system.booted) return std::nullopt;
  std::optional<int64_t> loaded;
  for (const LogLine& line : *machine.kernel.log.lines)
    if (line.seconds && line.text.find("NVRM: loading NVIDIA UNIX") != std::string::npos)
      loaded = *machine.system.booted + static_cast<int64_t>(*line.seconds);
  return loaded;
}

bool maps_cuda(const GpuProcess& process) {
  return std::any_of(process.libraries.begin(), process.libraries.end(),
                     [](const std::string& path) {
                       std::string_view name = name_of(path);
                       return name.starts_with("libcuda.so") || name.starts_with("libcudart");
                     });
}

Outcome older_than_driver(const Machine& machine, const Facts&) {
  if (!machine.processes) return not_known(machine.processes.why_unknown);
  std::vector<const GpuProcess*> candidates;
  for (const GpuProcess& process : *machine.processes)
    if (process.nodes.empty() && process.started && maps_cuda(process))
      candidates.push_back(&process);
  if (candidates.empty()) return ok("every program with CUDA has a GPU open");
  std::optional<int64_t> loaded = driver_loaded(machine);
  if (!loaded)
    return not_known("when the driver was loaded is not known (journalctl -k -b | grep 'NVRM: "
                     "loading')");
  for (const GpuProcess* process : candidates)
    if (*process->started < *loaded)
      return fires({fmt::format("{}: started {} s before the driver was loaded, has no /dev/nvidia "
                                "open",
                                process_text(*process), *loaded - *process->started)},
                   process_fields(*process));
  return ok("programs were started after the driver");
}

// --- monitors -----------------------------------------------------------------------------------

Outcome smi_loop(const Machine& machine, const Facts&) {
  const PeriodicJob* job = nullptr;
  for (const PeriodicJob& each : machine.periodic)
    if (each.command.find("nvidia-smi") != std::string::npos &&
        (!each.period_s || *each.period_s <= kOften))
      job = &each;
  if (!job) return ok("nothing that was found calls nvidia-smi again and again");
  if (auto none = no_nvml(machine)) return *none;
  const NvmlGpu* off = nullptr;
  bool told = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    told = told || gpu.persistence;
    if (gpu.persistence && !*gpu.persistence) off = &gpu;
  }
  if (!told) return not_known("NVML does not tell the persistence mode (nvidia-smi -q)");
  if (!off) return ok("persistence mode is on");
  return fires({fmt::format("{}: {}", job->file, job->command),
                fmt::format("nvmlDeviceGetPersistenceMode(GPU {}): off", off->index)},
               {{"every", job->period_s ? fmt::format("every {:.0f} s", *job->period_s)
                                        : std::string("in a loop")}});
}

Outcome utilisation_misleads(const Machine& machine, const Facts&) {
  if (auto none = no_nvml(machine)) return *none;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (!gpu.utilisation_percent || !gpu.power_mw || !gpu.power_limit_mw) continue;
    if (*gpu.utilisation_percent < kBusy || *gpu.power_limit_mw == 0) continue;
    if (uint64_t{*gpu.power_mw} * 100 > uint64_t{*gpu.power_limit_mw} * kMostPower) continue;
    return fires({fmt::format("nvmlDeviceGetUtilizationRates(GPU {}): {} %", gpu.index,
                              *gpu.utilisation_percent),
                  fmt::format("nvmlDeviceGetPowerUsage(GPU {}): {} W of {} W", gpu.index,
                              *gpu.power_mw / 1000, *gpu.power_limit_mw / 1000)},
                 {{"gpu", name_of_gpu(gpu)},
                  {"busy", fmt::format("{}", *gpu.utilisation_percent)},
                  {"power", fmt::format("{}", *gpu.power_mw / 1000)},
                  {"limit", fmt::format("{}", *gpu.power_limit_mw / 1000)}});
  }
  return ok("no GPU is busy without drawing power");
}

Outcome cgroup_memory(const Machine& machine, const Facts&) {
  const Surroundings& around = machine.surroundings;
  if (in_container(machine)) return not_applicable("container-oom-kills judges containers");
  if (!around.oom_kills) return not_known("memory.events of this cgroup cannot be read");
  if (*around.oom_kills == 0) return ok("no process was killed at the memory limit");
  std::string limit = around.memory_max_bytes && *around.memory_max_bytes != UINT64_MAX
                          ? human_bytes(*around.memory_max_bytes)
                          : "the parent";
  return fires({fmt::format("memory.events of this cgroup: oom_kill {}", *around.oom_kills)},
               {{"count", fmt::format("{}", *around.oom_kills)}, {"limit", limit}});
}

Outcome dcgm_cuda(const Machine& machine, const Facts& facts) {
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  constexpr std::string_view start = "datacenter-gpu-manager-4-cuda";
  std::vector<std::string> evidence, has;
  std::optional<Version> driver = driver_cuda(machine, facts);
  for (const Package& package : *machine.packages.relevant) {
    if (!package.name.starts_with(start) || package.status == "rc") continue;
    std::string major = package.name.substr(start.size());
    if (!decimal_number(major)) continue; // "-all" brings each of them
    evidence.push_back(fmt::format("package {} {}", package.name, package.version));
    has.push_back(major);
  }
  if (has.empty()) return not_applicable("DCGM 4 with diagnostics is not installed");
  if (!driver) return not_known("the driver's CUDA version is not known");
  std::string wanted = fmt::format("{}", driver->major());
  if (std::find(has.begin(), has.end(), wanted) != has.end())
    return ok("DCGM's diagnostic for CUDA " + wanted + " is installed");
  evidence.push_back("the driver serves CUDA " + to_string(*driver));
  return fires(evidence, {{"has", joined(has)}, {"driver", wanted}});
}

Outcome dcgm_failed(const Machine& machine, const Facts&) {
  const ServiceUnit* unit = nullptr;
  for (const ServiceUnit& service : machine.services)
    if (service.name.find("dcgm") != std::string::npos ||
        service.name.find("hostengine") != std::string::npos)
      unit = &service;
  if (!unit) return not_applicable("DCGM's service is not installed");
  if (unit->state.empty() && !unit->running) return not_known(unit->running.why_unknown);
  if (unit->state != "failed")
    return ok(fmt::format("{}: {}", unit->name,
                          unit->state.empty() ? (*unit->running ? "runs" : "does not run")
                                              : unit->state));
  return fires({fmt::format("systemd: {} is {}", unit->name, unit->state)},
               {{"service", unit->name}});
}

} // namespace

CheckList process_checks() {
  return {{"gpu-memory-without-process", memory_without_process},
          {"gpu-process-zombie", zombie},
          {"nvidia-smi-loop", smi_loop},
          {"process-older-than-driver", older_than_driver},
          {"process-memory-unknown", memory_unknown},
          {"utilisation-misleads", utilisation_misleads},
          {"cgroup-memory-exhausted", cgroup_memory},
          {"dcgm-other-cuda", dcgm_cuda},
          {"dcgm-service-failed", dcgm_failed}};
}

} // namespace gpuvet
