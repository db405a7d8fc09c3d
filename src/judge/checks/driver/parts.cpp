#include "judge/checks/driver/parts.hpp"

#include "judge/doctor/diagnose.hpp"

namespace gpuvet {
namespace driver {
std::vector<const PciFunction*> unserved_gpus(const Machine& machine) {
  std::vector<const PciFunction*> gpus;
  for (const PciFunction* gpu : pci_gpus(machine)) {
    const NvmlGpu* answers = nvml_gpu_at(machine, gpu->address);
    bool served = answers && answers->error == 0;
    if (!served && !is_given_away(machine, *gpu)) gpus.push_back(gpu);
  }
  return gpus;
}

std::optional<Outcome> every_gpu_served(const Machine& machine) {
  if (machine.surroundings.wsl) return not_applicable("under WSL the driver is that of Windows");
  if (machine.surroundings.jetson) return not_applicable("on Jetson the driver fits the system");
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  if (pci_gpus(machine).empty()) return not_applicable("no GPU of NVIDIA is on the PCI bus");
  if (unserved_gpus(machine).empty()) return ok("the driver serves every GPU");
  return std::nullopt;
}

} // namespace driver

CheckList driver_checks() {
  CheckList list;
  for (const CheckList& part :
       {driver::module_checks(), driver::version_checks(), driver::gpu_checks(),
        driver::bringup_checks(), driver::state_checks()})
    list.insert(list.end(), part.begin(), part.end());
  return list;
}

} // namespace gpuvet
