// Checks of what several GPUs of one machine talk through: the PCI bus, and the limits that
// programs on many GPUs run into.
#include "base/units.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// --- traffic between GPUs over the PCI bus -------------------------------------------------------

// Why peer traffic over PCI is no matter here; empty: it is.
std::string no_peer_traffic(const Machine& machine) {
  if (gpu_count(machine) < 2) return "fewer than two GPUs";
  if (machine.surroundings.wsl) return "WSL";
  bool linked =
      !machine.nvml.gpus.empty() &&
      std::all_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(),
                  [](const NvmlGpu& gpu) { return gpu.nvlinks_active.value.value_or(0) > 0; });
  return linked ? "the GPUs talk over NVLink" : "";
}

Outcome iommu(const Machine& machine, const Facts&) {
  if (std::string why = no_peer_traffic(machine); !why.empty()) return not_applicable(why);
  if (!machine.kernel.functions) return not_known(machine.kernel.functions.why_unknown);
  const Observed<std::string>& hypervisor = machine.surroundings.hypervisor;
  if (hypervisor && *hypervisor != "none" && !hypervisor->empty())
    return not_applicable("in a virtual machine the host's IOMMU is needed");
  std::string type, address;
  for (const PciFunction& function : *machine.kernel.functions)
    if (function.device_class >> 16U == 0x03 && function.iommu_group_type.starts_with("DMA")) {
      type = function.iommu_group_type;
      address = function.address;
    }
  if (type.empty()) return ok("the IOMMU is off, or passes the GPUs through");
  Outcome outcome =
      fires({fmt::format("/sys/bus/pci/devices/{}/iommu_group/type: {}", address, type)},
            {{"type", type}});
  if (machine.kernel.command_line)
    outcome.evidence.push_back(machine.kernel.command_line.source + ": " +
                               *machine.kernel.command_line);
  return likely(std::move(outcome),
                "whether peer traffic goes wrong: run a program on two GPUs with "
                "NCCL_P2P_DISABLE=1 and without");
}

Outcome acs(const Machine& machine, const Facts&) {
  if (std::string why = no_peer_traffic(machine); !why.empty()) return not_applicable(why);
  if (!machine.kernel.functions) return not_known(machine.kernel.functions.why_unknown);
  const Observed<std::string>& hypervisor = machine.surroundings.hypervisor;
  if (hypervisor && *hypervisor != "none" && !hypervisor->empty())
    return not_applicable("in a virtual machine the bridges are the host's");
  std::vector<std::string> evidence;
  bool open = false;
  for (const PciFunction& function : *machine.kernel.functions) {
    if (function.device_class >> 16U != 0x03) continue;
    if (!function.acs_redirects)
      open = true;
    else if (*function.acs_redirects)
      evidence.push_back(fmt::format("/sys/bus/pci/devices/{}: a bridge above ({}) redirects "
                                     "requests (ACS)",
                                     function.address, function.port_address));
  }
  std::string count = fmt::format("{}", evidence.size());
  if (!evidence.empty()) return fires(std::move(evidence), {{"count", count}});
  return open ? not_known("whether bridges redirect peer traffic: only root may see (sudo lspci "
                          "-vvv | grep ACSCtl)")
              : ok("no bridge redirects peer traffic");
}

// --- limits --------------------------------------------------------------------------------------

Outcome memlock(const Machine& machine, const Facts&) {
  if (machine.network.ports.empty()) return not_applicable("there is no RDMA device");
  if (machine.system.user && *machine.system.user == 0 && !in_container(machine))
    return not_applicable("the limit does not bind root");
  if (!machine.system.memlock_bytes) return not_known("the limit of locked memory (ulimit -l)");
  if (*machine.system.memlock_bytes == UINT64_MAX) return ok("unlimited");
  std::string limit = fmt::format("{} KiB", *machine.system.memlock_bytes >> 10U); // as ulimit -l
  Outcome outcome = fires({"getrlimit(RLIMIT_MEMLOCK): " + limit}, {{"limit", limit}});
  if (*machine.system.memlock_bytes > (16ULL << 30U)) outcome.severity = Severity::info;
  return outcome;
}

Outcome memlock_of_process(const Machine& machine, const Facts&) {
  if (machine.network.ports.empty()) return not_applicable("there is no RDMA device");
  if (!machine.processes) return not_known(machine.processes.why_unknown);
  if (machine.system.memlock_bytes.value_or(0) != UINT64_MAX)
    return not_applicable("the limit is low for every program started here");
  for (const GpuProcess& process : *machine.processes)
    if (process.memlock_bytes && *process.memlock_bytes < (1ULL << 30U))
      return fires({fmt::format("/proc/{}/limits: Max locked memory {}", process.pid,
                                human_bytes(*process.memlock_bytes))},
                   {{"process", fmt::format("{} (pid {})", process.name, process.pid)},
                    {"limit", human_bytes(*process.memlock_bytes)},
                    {"unit", process.unit.empty() ? "the service that starts it" : process.unit}});
  return ok("no GPU process has a low limit");
}

// Kexec handover lends its scratch area to the page allocator as pages that can't be pinned for
// long: registering memory for RDMA fails once only such pages are left.
Outcome unpinnable(const Machine& machine, const Facts&) {
  constexpr uint64_t much = 1ULL << 30U; // bytes; seen: 9.3 GiB
  if (machine.network.ports.empty()) return not_applicable("there is no RDMA device");
  const KernelSide& kernel = machine.kernel;
  if (!kernel.cma_free_bytes) return not_known(kernel.cma_free_bytes.why_unknown);
  if (!kernel.cma_bytes) return not_known(kernel.cma_bytes.why_unknown);
  const uint64_t areas = *kernel.cma_bytes;
  if (*kernel.cma_free_bytes < areas + much) return ok("memory can be pinned");
  std::vector<std::string> evidence = {fmt::format("/proc/meminfo: CmaTotal {}, CmaFree {}",
                                                   human_bytes(areas),
                                                   human_bytes(*kernel.cma_free_bytes))};
  std::string release = "of unknown release";
  if (machine.system.kernel_release) {
    release = *machine.system.kernel_release;
    evidence.push_back("uname: " + release);
  }
  if (kernel.command_line)
    evidence.push_back(kernel.command_line.source + ": " + *kernel.command_line);
  return likely(fires(std::move(evidence), {{"bytes", human_bytes(*kernel.cma_free_bytes - areas)},
                                            {"kernel", release}}),
                "whether registering memory fails: NCCL or ib_write_bw then says \"Cannot allocate "
                "memory\"");
}

Outcome few_files(const Machine& machine, const Facts&) {
  if (gpu_count(machine) < 8) return not_applicable("fewer than eight GPUs");
  if (!machine.system.open_files) return not_known("the limit of open files (ulimit -n)");
  if (*machine.system.open_files > 1024) return ok(fmt::format("{}", *machine.system.open_files));
  return fires({fmt::format("getrlimit(RLIMIT_NOFILE): {}", *machine.system.open_files)},
               {{"limit", fmt::format("{}", *machine.system.open_files)}});
}

Outcome few_pids(const Machine& machine, const Facts&) {
  if (!machine.surroundings.pids_max) return not_applicable("no limit of the cgroup was found");
  if (gpu_count(machine) < 2) return not_applicable("fewer than two GPUs");
  if (*machine.surroundings.pids_max >= 4096) return ok("enough for NCCL's threads");
  return fires({fmt::format("pids.max of the cgroup: {}", *machine.surroundings.pids_max)},
               {{"limit", fmt::format("{}", *machine.surroundings.pids_max)}});
}

} // namespace

CheckList peer_traffic_checks() {
  return {{"network-iommu", iommu},
          {"network-acs", acs},
          {"network-memlock-low", memlock},
          {"network-memlock-of-process", memlock_of_process},
          {"network-memory-not-pinnable", unpinnable},
          {"network-few-open-files", few_files},
          {"network-few-pids", few_pids}};
}

} // namespace gpuvet
