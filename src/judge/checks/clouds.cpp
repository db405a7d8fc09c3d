// Checks of clouds and virtual GPUs: what the instance type promises against what is here.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr uint32_t kVgpu = 2; // NVML_GPU_VIRTUALIZATION_MODE_VGPU

// The instance type that this is, with its row; or why nothing can be said.
struct Instance {
  const InstanceType* row = nullptr;
  std::string evidence;
  Outcome instead;
};

Instance instance(const Machine& machine, const Facts& facts) {
  Instance found;
  const Surroundings& around = machine.surroundings;
  if (!around.cloud) {
    found.instead = not_known("whether this is a cloud is not known: " + around.cloud.why_unknown);
    return found;
  }
  if (*around.cloud == "none") {
    found.instead = not_applicable("this is no known cloud");
    return found;
  }
  if (around.instance_type.empty()) {
    found.instead = not_known("the instance type is not told without network (the provider's "
                              "metadata service has it)");
    return found;
  }
  auto expected = facts.expected();
  if (expected) found.row = find_instance(**expected, *around.cloud, around.instance_type);
  if (!found.row)
    found.instead = not_applicable(fmt::format("instance type {} is not in the table of GPU "
                                               "instances",
                                               around.instance_type));
  found.evidence = fmt::format("{}: instance type {}", around.cloud.source, around.instance_type);
  return found;
}

bool is_nvswitch(const PciFunction& function) {
  return function.id.starts_with("10de:") && function.device_class == 0x068000;
}

Outcome no_fabric_manager(const Machine& machine, const Facts& facts) {
  Instance here = instance(machine, facts);
  if (!here.row) return here.instead;
  if (!here.row->nvswitch) return not_applicable(here.row->type + " has no NVSwitch to manage");
  if (in_container(machine)) return not_applicable("fabric manager runs on the host");
  if (machine.kernel.functions &&
      std::any_of(machine.kernel.functions->begin(), machine.kernel.functions->end(), is_nvswitch))
    return not_applicable("the NVSwitches are seen: fabricmanager-missing judges this");
  const ServiceUnit* unit = nullptr;
  for (const ServiceUnit& service : machine.services)
    if (service.name.starts_with("nvidia-fabricmanager")) unit = &service;
  if (unit && unit->running && *unit->running) return ok(unit->name + " runs");
  bool installed = !machine.fabric_manager.program.empty() || unit;
  std::string version = machine.kernel.module_version ? *machine.kernel.module_version : "VERSION";
  std::string branch = version.substr(0, version.find('.'));
  std::string start = "sudo systemctl enable --now nvidia-fabricmanager";
  std::string command = start;
  if (!installed)
    command = machine.distribution.packages == PackageSystem::apt
                  ? fmt::format("sudo apt install nvidia-fabricmanager-{}={}* && {}", branch,
                                version, start)
                  : fmt::format("sudo dnf install nvidia-fabric-manager-{} && {}", version, start);
  if (unit && !unit->running && machine.cuda.asked.error != 802)
    return not_known("whether fabric manager runs is not known (systemctl status "
                     "nvidia-fabricmanager)");
  return fires({here.evidence, installed ? "nvidia-fabricmanager: installed, not running"
                                         : "nvidia-fabricmanager: not installed"},
               {{"type", machine.surroundings.instance_type},
                {"state", installed ? "running" : "installed"},
                {"command", command}});
}

Outcome fewer_gpus(const Machine& machine, const Facts& facts) {
  Instance here = instance(machine, facts);
  if (!here.row) return here.instead;
  if (in_container(machine)) return not_applicable("a container may have been given fewer GPUs");
  if (!machine.kernel.functions) return not_known(machine.kernel.functions.why_unknown);
  size_t on_bus = pci_gpus(machine).size();
  if (on_bus >= here.row->gpus)
    return ok(fmt::format("{} on the PCI bus, as {} promises", on_bus, here.row->type));
  return fires({here.evidence,
                fmt::format("table of instance types: {} x {}", here.row->gpus, here.row->gpu),
                fmt::format("{}: {}", machine.kernel.functions.source, counted(on_bus, "GPU"))},
               {{"type", machine.surroundings.instance_type},
                {"promised", fmt::format("{}", here.row->gpus)},
                {"found", fmt::format("{}", on_bus)}});
}

// --- virtual GPUs -------------------------------------------------------------------------------

std::string name_of_gpu(const NvmlGpu& gpu) {
  return gpu.name.empty() ? fmt::format("GPU {}", gpu.index) : gpu.name;
}

bool is_vgpu(const NvmlGpu& gpu) {
  return gpu.virtualization && *gpu.virtualization == kVgpu;
}

std::optional<Outcome> no_vgpu(const Machine& machine) {
  if (machine.nvml.asked.state != AskState::answered)
    return machine.surroundings.hypervisor && *machine.surroundings.hypervisor == "none"
               ? not_applicable("this is no virtual machine")
               : not_known("NVML did not answer, which tells whether a GPU is virtual");
  if (std::any_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(), is_vgpu)) return std::nullopt;
  return not_applicable("no GPU is virtual");
}

Outcome unlicensed(const Machine& machine, const Facts&) {
  if (auto none = no_vgpu(machine)) return *none;
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (!is_vgpu(gpu)) continue;
    if (!gpu.vgpu_licensed)
      return not_known(
          fmt::format("whether {} is licensed is not told (nvidia-smi -q)", name_of_gpu(gpu)));
    if (*gpu.vgpu_licensed) continue;
    return fires({fmt::format("NVML GPU {}: virtualization mode vGPU, not licensed", gpu.index)},
                 {{"gpu", name_of_gpu(gpu)}});
  }
  return ok("virtual GPUs are licensed");
}

Outcome needs_grid_driver(const Machine& machine, const Facts& facts) {
  Instance here = instance(machine, facts);
  if (!here.row) return here.instead;
  if (!here.row->vgpu) return not_applicable(here.row->type + " has whole GPUs");
  if (!machine.kernel.module_version) return not_known(machine.kernel.module_version.why_unknown);
  if (machine.kernel.log.lines)
    for (const LogLine& line : *machine.kernel.log.lines)
      if (line.text.find("NVRM: The NVIDIA vGPU") != std::string::npos)
        return not_applicable("vgpu-guest-driver judges by the kernel log");
  bool answers = std::any_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(),
                             [](const NvmlGpu& gpu) { return gpu.error == 0; });
  if (answers && machine.cuda.asked.error != 46) return ok("the GPU answers with this driver");
  if (machine.nvml.asked.state == AskState::skipped)
    return not_known("NVML was not asked: " + machine.nvml.asked.problem);
  std::vector<std::string> evidence = {here.evidence, machine.kernel.module_version.source + ": " +
                                                          *machine.kernel.module_version};
  evidence.push_back(answers ? "cuInit or a context: error 46"
                             : fmt::format("NVML: {} GPUs answer", 0));
  Outcome outcome = fires(evidence, {{"type", machine.surroundings.instance_type},
                                     {"gpu", here.row->gpu},
                                     {"driver", *machine.kernel.module_version}});
  return likely(outcome, "whether the driver is GRID's (nvidia-smi -q, Product Brand)");
}

Outcome no_managed_memory(const Machine& machine, const Facts&) {
  if (auto none = no_vgpu(machine)) return *none;
  if (machine.cuda.asked.state != AskState::answered)
    return not_known("the CUDA driver was not asked or did not answer");
  for (const CudaDevice& device : machine.cuda.devices) {
    if (!device.managed_memory)
      return not_known("the CUDA driver did not tell whether there is managed memory");
    if (!*device.managed_memory)
      return fires(
          {fmt::format("CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY of device {}: 0", device.ordinal),
           "NVML: virtualization mode vGPU"},
          {{"gpu", device.name}});
  }
  return ok("managed memory is there");
}

Outcome profile_shown(const Machine& machine, const Facts&) {
  if (auto none = no_vgpu(machine)) return *none;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (is_vgpu(gpu))
      return fires({fmt::format("NVML GPU {}: virtualization mode vGPU", gpu.index)},
                   {{"gpu", name_of_gpu(gpu)}});
  return ok("no GPU is virtual");
}

// --- where the provider puts the driver ---------------------------------------------------------

constexpr std::array<std::string_view, 4> kProviderFolders = {
    "/usr/local/nvidia/lib64", "/home/kubernetes/bin/nvidia/lib64", "/usr/lib64-nvidia",
    "/usr/local/nvidia/lib"};

Outcome driver_path(const Machine& machine, const Facts&) {
  if (!machine.driver.resolved_libcuda.empty())
    return ok("the loader finds " + machine.driver.resolved_libcuda);
  for (const LibraryFile& file : machine.driver.libcuda) {
    std::string_view folder = folder_of(file.path);
    if (std::find(kProviderFolders.begin(), kProviderFolders.end(), folder) ==
        kProviderFolders.end())
      continue;
    return fires({file.path + ": exists", "the loader finds no libcuda.so.1",
                  "LD_LIBRARY_PATH=" + (variable(machine, "LD_LIBRARY_PATH").empty()
                                            ? "(not set)"
                                            : variable(machine, "LD_LIBRARY_PATH"))},
                 {{"folder", std::string(folder)}});
  }
  return not_applicable("no driver in a folder that a provider mounts");
}

} // namespace

CheckList cloud_checks() {
  return {{"cloud-no-fabric-manager", no_fabric_manager},
          {"cloud-fewer-gpus", fewer_gpus},
          {"vgpu-unlicensed", unlicensed},
          {"vgpu-needs-grid-driver", needs_grid_driver},
          {"vgpu-no-managed-memory", no_managed_memory},
          {"vgpu-profile-shown", profile_shown},
          {"cloud-driver-path", driver_path}};
}

} // namespace gpuvet
