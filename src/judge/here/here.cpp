#include "judge/here/here.hpp"

#include "base/text.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace gpuvet {
namespace {

std::string capability_evidence(const std::string& from, const std::string& name, uint32_t sm) {
  return fmt::format("{}: {}, compute capability {}", from, name.empty() ? "a GPU" : name,
                     cc_name(sm));
}

// NVML first: it sees what CUDA_VISIBLE_DEVICES hides.
std::vector<GpuHere> told_by_calls(const Machine& machine) {
  std::vector<GpuHere> found;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.error == 0 && gpu.capability)
      found.push_back({gpu.name, gpu.pci_address, *gpu.capability,
                       capability_evidence("NVML", gpu.name, *gpu.capability)});
  if (!found.empty()) return found;
  for (const CudaDevice& device : machine.cuda.devices)
    if (device.error == 0 && device.capability)
      found.push_back({device.name, device.pci_address, *device.capability,
                       capability_evidence("CUDA driver", device.name, *device.capability)});
  return found;
}

Observed<std::vector<GpuHere>> told_by_pci(const Machine& machine, const Facts& facts) {
  if (!machine.kernel.functions)
    return unknown<std::vector<GpuHere>>(machine.kernel.functions.why_unknown);
  std::vector<GpuHere> found;
  std::vector<const PciFunction*> functions = pci_gpus(machine);
  if (functions.empty()) return known(found, machine.kernel.functions.source);
  auto table = facts.gpus();
  if (!table) return unknown<std::vector<GpuHere>>("the table of GPUs cannot be read");
  for (const PciFunction* function : functions) {
    GpuMatch match = find_gpu(**table, function->id);
    if (!match.gpu)
      return unknown<std::vector<GpuHere>>(
          fmt::format("neither NVML nor CUDA tells the compute capability of PCI device {}, and "
                      "its id {} is not in the table of GPUs",
                      function->address, function->id));
    found.push_back(
        {match.gpu->name, function->address, match.gpu->sm,
         capability_evidence(fmt::format("PCI {} ({})", function->address, function->id),
                             match.gpu->name, match.gpu->sm)});
  }
  return known(std::move(found), machine.kernel.functions.source);
}

const DriverBranch* branch_with_cuda(const LoadRules& rules, const Version& cuda) {
  for (const DriverBranch& branch : rules.branches)
    if (branch.cuda.major() == cuda.major() && branch.cuda.minor() == cuda.minor()) return &branch;
  return nullptr;
}

bool is_set(const std::map<std::string, std::string>& environment, const std::string& name) {
  auto at = environment.find(name);
  return at != environment.end() && !at->second.empty() && at->second != "0";
}

} // namespace

Observed<std::vector<GpuHere>> gpus_here(const Machine& machine, const Facts& facts) {
  std::vector<GpuHere> told = told_by_calls(machine);
  if (!told.empty()) {
    std::string source = machine.nvml.gpus.empty() ? "CUDA driver" : "NVML";
    return known(std::move(told), std::move(source));
  }
  if (machine.surroundings.wsl || machine.surroundings.jetson)
    return unknown<std::vector<GpuHere>>(
        "neither NVML nor the CUDA driver tells the GPU's compute capability");
  return told_by_pci(machine, facts);
}

bool seen_by_driver(const Observed<std::vector<GpuHere>>& gpus) {
  return gpus && (gpus.source == "NVML" || gpus.source == "CUDA driver");
}

std::vector<uint32_t> capabilities(const std::vector<GpuHere>& gpus) {
  std::set<uint32_t> found;
  for (const GpuHere& gpu : gpus)
    found.insert(gpu.sm);
  return {found.begin(), found.end()};
}

std::string gpus_text(const std::vector<GpuHere>& gpus) {
  std::map<std::string, size_t> counts;
  for (const GpuHere& gpu : gpus)
    ++counts[fmt::format("{} ({})", gpu.name.empty() ? "GPU" : gpu.name, cc_name(gpu.sm))];
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts)
    parts.push_back(count == 1 ? name : fmt::format("{} {}", count, name));
  return joined(parts);
}

Observed<bool> expects_gpu(const Machine& machine) {
  if (machine.surroundings.wsl) return known(true, "WSL");
  if (machine.surroundings.jetson) return known(true, "Jetson");
  if (!machine.nvml.gpus.empty()) return known(true, "NVML");
  if (!machine.cuda.devices.empty()) return known(true, "CUDA driver");
  if (!machine.kernel.functions) return unknown<bool>(machine.kernel.functions.why_unknown);
  return known(!pci_gpus(machine).empty(), machine.kernel.functions.source);
}

Observed<DriverHere> driver_here(const Machine& machine, const LoadRules& rules) {
  DriverHere here;
  std::string version = machine.nvml.driver_version, source = "NVML";
  if (machine.kernel.module_version) {
    version = *machine.kernel.module_version;
    source = machine.kernel.module_version.source;
  } else if (version.empty() && machine.driver.user_version) {
    version = *machine.driver.user_version;
    source = machine.driver.user_version.source;
  }
  if (auto parsed = parse_version(version); parsed && !version.empty()) {
    here.driver = make_driver(rules, version, *parsed);
    here.evidence = fmt::format("{}: {}", source, version);
    if (machine.surroundings.jetson) here.driver.cuda = here.driver.max_isa = std::nullopt;
  }
  std::optional<uint32_t> api;
  if (machine.cuda.asked.state == AskState::answered) api = machine.cuda.driver_api;
  if (!api && !here.driver.cuda) api = machine.nvml.cuda_version;
  if (api) {
    Version cuda = cuda_version(*api);
    if (!here.driver.cuda || *here.driver.cuda != cuda) {
      here.driver.cuda = cuda;
      const DriverBranch* branch = branch_with_cuda(rules, cuda);
      if (branch) here.driver.max_isa = branch->ptx_isa;
    }
    if (version.empty()) here.driver.text = "with CUDA " + to_string(cuda);
    if (!here.evidence.empty()) here.evidence += ", ";
    here.evidence += fmt::format("CUDA {}", to_string(cuda));
  }
  if (here.evidence.empty())
    return unknown<DriverHere>(
        "the driver's version is not known; cat /proc/driver/nvidia/version shows it");
  return known(std::move(here), source);
}

LoadDevice device_of(const GpuHere& gpu, const LoadRules& rules) {
  bool tegra = std::find(rules.tegra.begin(), rules.tegra.end(), gpu.sm) != rules.tegra.end();
  return {gpu.name, gpu.sm, tegra};
}

Version cuda_version(uint32_t number) {
  return {{number / 1000, number % 1000 / 10}};
}

LoadEnvironment load_environment(const std::map<std::string, std::string>& environment) {
  LoadEnvironment set;
  set.force_ptx_jit =
      is_set(environment, "CUDA_FORCE_PTX_JIT") || is_set(environment, "CUDA_FORCE_JIT");
  set.disable_ptx_jit =
      is_set(environment, "CUDA_DISABLE_PTX_JIT") || is_set(environment, "CUDA_DISABLE_JIT");
  return set;
}

} // namespace gpuvet
