#include "judge/texts/known_facts.hpp"

#include "base/text.hpp"
#include "judge/rules/words.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

using Known = std::vector<KnownFact>;

void add(Known& facts, std::string name, std::string value, std::string where) {
  if (value.empty()) return;
  facts.push_back({std::move(name), std::move(value), std::move(where)});
}

void add(Known& facts, std::string name, const Observed<std::string>& told) {
  if (told) add(facts, std::move(name), *told, told.source);
}

std::string yes(bool value) {
  return value ? "yes" : "no";
}

std::string cuda_text(uint32_t number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string capability_text(uint32_t sm) {
  return fmt::format("{}.{}", sm / 10, sm % 10);
}

void add_driver(const Machine& machine, Known& facts) {
  const NvmlAnswers& nvml = machine.nvml;
  if (!nvml.driver_version.empty())
    add(facts, "driver.version", nvml.driver_version, "nvmlSystemGetDriverVersion");
  else
    add(facts, "driver.version", machine.kernel.module_version);
  add(facts, "driver.module", machine.kernel.module_version);
  add(facts, "driver.library", machine.driver.user_version);
  if (machine.cuda.asked.state == AskState::answered && machine.cuda.driver_api)
    add(facts, "driver.cuda", cuda_text(*machine.cuda.driver_api), "cuDriverGetVersion");
  else if (nvml.cuda_version)
    add(facts, "driver.cuda", cuda_text(*nvml.cuda_version), "nvmlSystemGetCudaDriverVersion_v2");
  if (machine.kernel.flavour)
    add(facts, "driver.open", yes(*machine.kernel.flavour == Flavour::open),
        machine.kernel.flavour.source);
  if (nvml.asked.state == AskState::failed)
    add(facts, "nvml.error", fmt::format("{}", nvml.asked.error), "nvmlInit_v2");
  if (machine.kernel.modules)
    for (const KernelModule& module : *machine.kernel.modules)
      add(facts, "module.loaded", module.name, machine.kernel.modules.source);
  if (machine.kernel.secure_boot)
    add(facts, "secure_boot", yes(*machine.kernel.secure_boot), machine.kernel.secure_boot.source);
  for (const XidEvent& event : machine.kernel.xids)
    if (!event.sxid)
      add(facts, "xid", fmt::format("{}", event.code), "kernel log, " + machine.kernel.log.from);
}

void add_gpus(const Machine& machine, Known& facts) {
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    std::string where = fmt::format("NVML, GPU {}", gpu.index);
    add(facts, "gpu.name", gpu.name, where);
    if (gpu.capability) add(facts, "gpu.capability", capability_text(*gpu.capability), where);
    if (gpu.memory_total)
      add(facts, "gpu.memory_bytes", fmt::format("{}", *gpu.memory_total), where);
    if (gpu.memory_total && gpu.memory_used && *gpu.memory_used <= *gpu.memory_total)
      add(facts, "gpu.free_bytes", fmt::format("{}", *gpu.memory_total - *gpu.memory_used), where);
    if (gpu.mig) add(facts, "gpu.mig", yes(*gpu.mig), where);
    if (gpu.compute_mode && *gpu.compute_mode == 2)
      add(facts, "gpu.compute_mode", "Prohibited", where);
    if (gpu.compute_mode && *gpu.compute_mode == 3)
      add(facts, "gpu.compute_mode", "E. Process", where);
  }
  if (machine.nvml.gpus.empty())
    for (const CudaDevice& device : machine.cuda.devices) {
      std::string where = fmt::format("CUDA driver, device {}", device.ordinal);
      add(facts, "gpu.name", device.name, where);
      if (device.capability)
        add(facts, "gpu.capability", capability_text(*device.capability), where);
      if (device.memory_bytes)
        add(facts, "gpu.memory_bytes", fmt::format("{}", *device.memory_bytes), where);
    }
  if (machine.nvml.asked.state == AskState::answered && machine.nvml.count)
    add(facts, "gpu.count", fmt::format("{}", *machine.nvml.count), "nvmlDeviceGetCount_v2");
  if (!machine.kernel.functions) return;
  bool nvswitch = false;
  for (const PciFunction& function : *machine.kernel.functions) {
    nvswitch |= function.device_class >> 8 == 0x0680;
    if (function.device_class >> 16 != 0x03) continue;
    add(facts, "gpu.pci_id", function.id, "PCI " + function.address);
    add(facts, "gpu.kernel_driver", function.driver, "PCI " + function.address);
  }
  add(facts, "nvswitch", yes(nvswitch), machine.kernel.functions.source);
}

// The environment of Python that a program gets by itself: the first one that was found.
void add_python(const Machine& machine, Known& facts) {
  if (machine.pythons.empty()) return;
  const PythonEnv& env = machine.pythons.front();
  const std::string& where = env.prefix.empty() ? env.executable : env.prefix;
  add(facts, "python.version", env.python_version, where);
  auto torch = [&](const char* key) {
    auto at = env.torch.find(key);
    return at == env.torch.end() ? std::string() : at->second;
  };
  add(facts, "torch.version", torch("version"), where + ", torch/version.py");
  std::string cuda = torch("cuda");
  if (cuda.empty() && env.torch_has_cuda && !*env.torch_has_cuda) cuda = "none";
  add(facts, "torch.cuda", cuda == "None" ? "none" : cuda, where + ", torch/version.py");
  if (std::string abi = torch("cxx11_abi"); !abi.empty())
    add(facts, "torch.cxx11_abi", yes(abi == "1" || abi == "True" || abi == "cxx11"), where);
  for (const PackageCode& code : env.code) {
    if (code.package != "torch" || !code.sass) continue;
    std::vector<std::string> archs;
    for (Target target : *code.sass)
      archs.push_back(sm_name(target));
    add(facts, "torch.archs", joined(archs, " "), code.file);
  }
  for (const char* key : {"torch", "cuda"})
    if (auto at = env.xformers.find(key); at != env.xformers.end())
      add(facts, std::string("xformers.") + key, at->second, where);
  if (!env.packages) return;
  for (const PythonPackage& package : *env.packages) {
    std::string place = package.folder.empty() ? where : package.folder;
    add(facts, "package." + package.name, package.version, place);
    if (package.name == "tensorflow") add(facts, "tensorflow.version", package.version, place);
    if (package.name == "jax") add(facts, "jax.version", package.version, place);
    if (package.name == "torch" && torch("version").empty())
      add(facts, "torch.version", package.version, place);
  }
}

void add_software(const Machine& machine, Known& facts) {
  if (!machine.toolkits.nvcc.empty()) { // the first one on PATH
    const NvccOnPath& nvcc = machine.toolkits.nvcc.front();
    add(facts, "nvcc.version", nvcc.version, nvcc.path);
    add(facts, "nvcc.path", nvcc.path, "PATH");
  }
  add(facts, "gcc.version", machine.toolkits.gcc);
  for (const CudaLibrary& library : machine.libraries)
    if (library.part.empty() && (library.kind == "cudnn" || library.kind == "nccl"))
      add(facts, library.kind + ".version", library.file.version, library.file.path);
  if (machine.packages.relevant)
    for (const Package& package : *machine.packages.relevant)
      if (package.status == "ii" || package.status == "installed")
        add(facts, "os.package." + package.name, package.version, machine.packages.relevant.source);
  add(facts, "container_toolkit.version", machine.container_host.toolkit);
  add(facts, "docker.default_runtime", machine.container_host.docker_default_runtime,
      machine.container_host.docker_config_file);
  if (machine.container_host.docker_knows_nvidia)
    add(facts, "docker.nvidia_runtime", yes(*machine.container_host.docker_knows_nvidia),
        machine.container_host.docker_config_file);
}

void add_place(const Machine& machine, Known& facts) {
  add(facts, "os.name", machine.distribution.id);
  if (machine.distribution.id)
    add(facts, "os.version", machine.distribution.version, machine.distribution.id.source);
  add(facts, "kernel.version", machine.system.kernel_release);
  add(facts, "architecture", machine.system.architecture, "uname");
  add(facts, "glibc.version", machine.system.glibc);
  const Surroundings& around = machine.surroundings;
  add(facts, "wsl", yes(around.wsl), machine.system.kernel_release.source);
  add(facts, "jetson", yes(around.jetson), "/etc/nv_tegra_release");
  if (around.container)
    add(facts, "container", std::string(container_word(*around.container)),
        around.container.source);
  if (around.cloud && *around.cloud != "none") add(facts, "cloud", around.cloud);
  if (around.shm_bytes) add(facts, "shm.bytes", fmt::format("{}", *around.shm_bytes), "/dev/shm");
  if (auto memlock = machine.system.memlock_bytes)
    add(facts, "memlock", *memlock == UINT64_MAX ? "unlimited" : fmt::format("{}", *memlock),
        "RLIMIT_MEMLOCK");
  for (const auto& [name, value] : machine.environment)
    add(facts, "env." + name, value, "environment");
}

} // namespace

std::vector<KnownFact> known_facts(const Machine& machine) {
  Known facts;
  add_driver(machine, facts);
  add_gpus(machine, facts);
  add_software(machine, facts);
  add_python(machine, facts);
  add_place(machine, facts);
  return facts;
}

} // namespace gpuvet
