// Machines for tests of checks. Each is healthy; a test breaks what it is about, so that nothing
// else can explain what fires.
#pragma once

#include "judge/checks/subjects.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuvet::testing {

inline const Facts& facts() {
  static const Facts all;
  return all;
}

// What check `id` says of `machine`.
inline Outcome ask(const CheckList& checks, std::string_view id, const Machine& machine) {
  for (const CheckCode& check : checks)
    if (check.id == id) return check.run(machine, facts());
  throw std::runtime_error(fmt::format("there is no check {}", id));
}

// Ids of the checks that fire, in order.
inline std::vector<std::string> firing(const CheckList& checks, const Machine& machine) {
  std::vector<std::string> ids;
  for (const CheckCode& check : checks)
    if (check.run(machine, facts()).answer == Answer::fires) ids.emplace_back(check.id);
  return ids;
}

// Ids of what the whole doctor finds, worst first, consequences left out. Infos are left out too.
inline std::vector<std::string> found(const Machine& machine,
                                      const std::set<std::string>& areas = {}) {
  auto diagnosis = diagnose(machine, facts(), areas);
  if (!diagnosis) throw std::runtime_error(diagnosis.error().what);
  std::vector<std::string> ids;
  for (size_t cause : diagnosis->causes)
    if (diagnosis->checks[cause].severity > Severity::info)
      ids.push_back(diagnosis->checks[cause].row->id);
  return ids;
}

// The first command that the doctor gives for check `id`; empty: none.
inline std::string first_command(const Machine& machine, std::string_view id) {
  auto diagnosis = diagnose(machine, facts());
  if (!diagnosis) throw std::runtime_error(diagnosis.error().what);
  for (const CheckResult& check : diagnosis->checks)
    if (check.row->id == id && !check.fixes.empty()) return check.fixes.front().text;
  return {};
}

inline PciFunction pci_function(std::string address, std::string id, std::string driver,
                                uint32_t device_class = 0x030200) {
  PciFunction function;
  function.address = std::move(address);
  function.id = std::move(id);
  function.device_class = device_class;
  function.driver = std::move(driver);
  function.link_speed = function.link_speed_max = "16.0 GT/s PCIe";
  function.link_width = function.link_width_max = 16U;
  function.port_speed_max = "16.0 GT/s PCIe";
  function.port_width_max = 16U;
  function.port_address = "0000:00:01.0";
  function.bars = {{0xa0000000, 16U << 20U}, {0x380000000000, 1ULL << 37U}, {}, {}, {}, {}};
  function.config_all_ones = false;
  function.aer_correctable = function.aer_nonfatal = function.aer_fatal = 0U;
  function.runtime_power = function.port_runtime_power = "on";
  function.enabled = true;
  function.interrupts = 1U;
  return function;
}

inline KernelModule kernel_module(std::string name, std::string version = {}) {
  KernelModule loaded;
  loaded.name = std::move(name);
  loaded.version = std::move(version);
  loaded.state = "live";
  return loaded;
}

inline DeviceNode device_node(std::string path, uint32_t major, uint32_t minor) {
  DeviceNode node;
  node.path = std::move(path);
  node.exists = node.character = true;
  node.major = major;
  node.minor = minor;
  node.mode = 0666;
  node.open_error = 0;
  return node;
}

inline DeviceNode absent_node(std::string path) {
  DeviceNode node;
  node.path = std::move(path);
  return node;
}

inline std::string gpu_address(uint32_t index) {
  return fmt::format("0000:{:02x}:00.0", 0x10 + index * 0x10);
}

// Idle, as most machines are when they are looked at: the link has stepped down.
inline NvmlGpu nvml_gpu(uint32_t index, std::string name, uint32_t capability) {
  NvmlGpu gpu;
  gpu.index = index;
  gpu.name = std::move(name);
  gpu.uuid = fmt::format("GPU-00000000-0000-0000-0000-{:012}", index);
  gpu.pci_address = gpu_address(index);
  gpu.vbios = "96.00.74.00.01";
  gpu.minor.value = index;
  gpu.capability.value = capability;
  gpu.memory_total.value = 80ULL << 30U;
  gpu.memory_used.value = 500ULL << 20U;
  gpu.remap_pending.value = gpu.remap_failed.value = false;
  gpu.remapped_correctable.value = gpu.remapped_uncorrectable.value = 0U;
  gpu.clock_sm.value = 345U;
  gpu.clock_sm_max.value = 1980U;
  gpu.clock_reasons.value = 1U; // idle
  gpu.power_mw.value = 70'000U;
  gpu.power_limit_mw.value = gpu.power_default_mw.value = gpu.power_max_mw.value = 450'000U;
  gpu.temperature_c.value = 35U;
  gpu.temperature_slowdown_c.value = 90U;
  gpu.utilisation_percent.value = 0U;
  gpu.persistence.value = true;
  gpu.compute_mode.value = 0U;
  gpu.performance_state.value = 8U;
  gpu.link_generation.value = 1U;
  gpu.link_generation_max.value = gpu.link_generation_device_max.value = 4U;
  gpu.link_width.value = gpu.link_width_max.value = 16U;
  gpu.replays.value = 0U;
  gpu.inforom_ok.value = true;
  gpu.virtualization.value = 0U;
  gpu.processes.value = std::vector<NvmlProcess>{};
  return gpu;
}

inline LibraryFile library_file(std::string path, std::string version, std::string owner = {}) {
  LibraryFile file;
  file.path = file.real_path = std::move(path);
  file.version = std::move(version);
  file.owner = std::move(owner);
  file.origin = file.owner.empty() ? Origin::unknown : Origin::distribution;
  file.readable = true;
  return file;
}

inline ServiceUnit service(std::string name, bool enabled, bool running) {
  ServiceUnit unit;
  unit.name = std::move(name);
  unit.file = "/usr/lib/systemd/system/" + unit.name;
  unit.enabled = known(enabled, unit.file);
  unit.running = known(running, "/proc");
  unit.state = running ? "active" : "inactive";
  return unit;
}

// What every machine with a driver of this version has; `gpus` of one kind.
inline Machine with_driver(const std::string& version, uint32_t gpus, const std::string& id,
                           const std::string& name, uint32_t capability,
                           uint32_t device_class = 0x030200) {
  Machine machine;
  machine.system.kernel_release = known<std::string>("6.8.0-45-generic", "uname");
  machine.system.architecture = "x86_64";
  machine.system.user = known<uint64_t>(1000, "geteuid");
  machine.system.groups = {1000};
  machine.system.glibc = known<std::string>("2.35", "gnu_get_libc_version");
  machine.system.now = known<int64_t>(1'760'000'000, "clock");
  machine.system.booted = known<int64_t>(1'759'900'000, "/proc/stat");
  machine.system.memlock_bytes = UINT64_MAX;
  machine.distribution.id = known<std::string>("ubuntu", "/etc/os-release");
  machine.distribution.like = {"debian"};
  machine.distribution.version = "22.04";
  machine.distribution.name = "Ubuntu 22.04.5 LTS";
  machine.distribution.packages = PackageSystem::apt;
  machine.surroundings.container = known(ContainerKind::none, "/proc/1/cgroup");
  machine.surroundings.hypervisor = known<std::string>("none", "DMI");
  machine.surroundings.cloud = known<std::string>("none", "DMI");
  machine.surroundings.shm_bytes = known<uint64_t>(64ULL << 30U, "/dev/shm");

  KernelSide& kernel = machine.kernel;
  std::string folder = "/lib/modules/6.8.0-45-generic/updates/dkms/";
  std::vector<PciFunction> functions;
  std::vector<std::string> proc_gpus;
  kernel.nodes = {
      device_node("/dev/nvidiactl", 195, 255), device_node("/dev/nvidia-modeset", 195, 254),
      device_node("/dev/nvidia-uvm", 511, 0), device_node("/dev/nvidia-uvm-tools", 511, 1)};
  machine.nvml.asked.state = machine.cuda.asked.state = AskState::answered;
  machine.nvml.asked.problem = machine.cuda.asked.problem = "";
  for (uint32_t i = 0; i < gpus; ++i) {
    functions.push_back(pci_function(gpu_address(i), id, "nvidia", device_class));
    proc_gpus.push_back(gpu_address(i));
    kernel.proc_gpu_information[gpu_address(i)] = {{"Model", name}, {"GPU Excluded", "No"}};
    kernel.nodes.push_back(device_node(fmt::format("/dev/nvidia{}", i), 195, i));
    machine.nvml.gpus.push_back(nvml_gpu(i, name, capability));
    CudaDevice device;
    device.ordinal = static_cast<int>(i);
    device.name = name;
    device.uuid = machine.nvml.gpus.back().uuid;
    device.pci_address = gpu_address(i);
    device.capability = capability;
    machine.cuda.devices.push_back(device);
  }
  kernel.functions = known(std::move(functions), "/sys/bus/pci/devices");
  kernel.proc_gpus = known(std::move(proc_gpus), "/proc/driver/nvidia/gpus");
  kernel.modules = known<std::vector<KernelModule>>({kernel_module("nvidia", version),
                                                     kernel_module("nvidia_uvm", version),
                                                     kernel_module("nvidia_modeset", version)},
                                                    "/proc/modules");
  std::vector<ModuleFile> files;
  for (const char* module : {"nvidia", "nvidia-uvm", "nvidia-modeset"}) {
    ModuleFile file;
    file.path = fmt::format("{}{}.ko", folder, module);
    file.kernel = "6.8.0-45-generic";
    file.version = version;
    file.license = "Dual MIT/GPL";
    file.is_signed = true;
    file.signer = "build Secure Boot Module Signature key";
    files.push_back(file);
  }
  kernel.module_files = known(std::move(files), "/lib/modules/6.8.0-45-generic");
  kernel.headers = known(true, "/lib/modules/6.8.0-45-generic/build");
  kernel.module_version = known(version, "/sys/module/nvidia/version");
  kernel.flavour = known(Flavour::open, "/proc/driver/nvidia/version");
  kernel.kernel_compiler = known<std::string>("gcc 12.3.0", "/proc/version");
  kernel.char_majors = known<std::map<std::string, uint32_t>>(
      {{"nvidia", 195}, {"nvidiactl", 195}, {"nvidia-modeset", 195}, {"nvidia-uvm", 511}},
      "/proc/devices");
  kernel.proc_params = {{"DeviceFileMode", "438"}, {"ModifyDeviceFiles", "1"}};
  kernel.dkms = {{"nvidia", version, "6.8.0-45-generic", "installed", {}, {}}};
  kernel.secure_boot = known(false, "/sys/firmware/efi/efivars");
  kernel.lockdown = "none";
  kernel.command_line = known<std::string>("root=/dev/sda1 ro", "/proc/cmdline");
  kernel.iommu = known(false, "/sys/class/iommu");
  kernel.log.lines = known<std::vector<LogLine>>({}, "/dev/kmsg");
  kernel.log.from = "/dev/kmsg";
  kernel.suspends = 0U;
  kernel.selinux_enforcing = known(false, "/sys/fs/selinux");
  kernel.modprobe_setuid = known(true, "/usr/bin/nvidia-modprobe");
  kernel.dev_char_links = true;
  kernel.persistenced_socket = true;

  machine.nvml.driver_version = version;
  machine.nvml.cuda_version = machine.cuda.driver_api = 13000U;
  machine.nvml.count = gpus;
  std::string libraries = "/usr/lib/x86_64-linux-gnu/";
  machine.nvml.asked.library = libraries + "libnvidia-ml.so." + version;
  machine.cuda.asked.library = libraries + "libcuda.so." + version;
  machine.driver.libcuda = {library_file(machine.cuda.asked.library, version, "libnvidia-compute")};
  machine.driver.libnvidia_ml = {
      library_file(machine.nvml.asked.library, version, "libnvidia-compute")};
  machine.driver.ptxjitcompiler = {library_file(
      libraries + "libnvidia-ptxjitcompiler.so." + version, version, "libnvidia-compute")};
  machine.driver.user_version = known(version, machine.cuda.asked.library);
  machine.driver.resolved_libcuda = machine.cuda.asked.library;
  machine.driver.resolved_libnvidia_ml = machine.nvml.asked.library;
  machine.driver.nvidia_smi = "/usr/bin/nvidia-smi";
  machine.packages.relevant =
      known<std::vector<Package>>({{"nvidia-driver-580-open", version + "-0ubuntu1", "ii", "amd64"},
                                   {"nvidia-dkms-580-open", version + "-0ubuntu1", "ii", "amd64"},
                                   {"libnvidia-compute-580", version + "-0ubuntu1", "ii", "amd64"}},
                                  "/var/lib/dpkg/status");
  machine.services = {service("nvidia-persistenced.service", true, true)};
  machine.processes = known<std::vector<GpuProcess>>({}, "/proc");
  return machine;
}

// HGX H100: eight GPUs, four NVSwitches, fabric manager.
inline Machine healthy_h100() {
  Machine machine = with_driver("580.65.06", 8, "10de:2330", "NVIDIA H100 80GB HBM3", 90);
  machine.surroundings.dmi_product = "HGX H100";
  for (uint32_t i = 0; i < 4; ++i)
    machine.kernel.functions.value->push_back(pci_function(
        fmt::format("0000:{:02x}:00.0", 0xc0 + i), "10de:22a3", "nvidia-nvswitch", 0x068000));
  for (NvmlGpu& gpu : machine.nvml.gpus) {
    gpu.ecc.value = gpu.ecc_pending.value = true;
    gpu.ecc_uncorrected.value = gpu.ecc_uncorrected_aggregate.value = 0U;
    gpu.sram_threshold_exceeded.value = false;
    gpu.mig.value = gpu.mig_pending.value = false;
    gpu.nvlinks.value = gpu.nvlinks_active.value = 18U;
    gpu.fabric_state.value = 3U;
    gpu.fabric_status.value = 0;
    gpu.gsp_firmware.value = "580.65.06";
  }
  machine.services.push_back(service("nvidia-fabricmanager.service", true, true));
  machine.fabric_manager.program = "/usr/bin/nv-fabricmanager";
  machine.fabric_manager.version = known<std::string>("580.65.06", "/var/log/fabricmanager.log");
  machine.fabric_manager.log_file = "/var/log/fabricmanager.log";
  machine.packages.relevant.value->push_back(
      {"nvidia-fabricmanager-580", "580.65.06-0ubuntu1", "ii", "amd64"});
  return machine;
}

// A desktop with one GeForce card, proprietary module, display on it.
inline Machine healthy_desktop_4090() {
  Machine machine =
      with_driver("580.65.06", 1, "10de:2684", "NVIDIA GeForce RTX 4090", 89, 0x030000);
  machine.kernel.flavour = known(Flavour::proprietary, "/proc/driver/nvidia/version");
  for (ModuleFile& file : *machine.kernel.module_files.value)
    file.license = "NVIDIA";
  machine.packages.relevant.value->at(0).name = "nvidia-driver-580";
  machine.packages.relevant.value->at(1).name = "nvidia-dkms-580";
  machine.nvml.gpus[0].memory_total.value = 24ULL << 30U;
  machine.nvml.gpus[0].processes.value->push_back({1200, 60ULL << 20U, true});
  return machine;
}

// Docker with one GPU of an H100 machine: the host's module, no module files, no host log.
inline Machine container() {
  Machine machine = with_driver("580.65.06", 1, "10de:2330", "NVIDIA H100 80GB HBM3", 90);
  machine.system.user = known<uint64_t>(0, "geteuid");
  machine.surroundings.container = known(ContainerKind::docker, "/.dockerenv");
  machine.surroundings.nvidia_visible_devices = "all";
  machine.surroundings.nvidia_driver_capabilities = "compute,utility";
  machine.surroundings.shm_bytes = known<uint64_t>(64ULL << 20U, "/dev/shm");
  KernelSide& kernel = machine.kernel;
  kernel.module_files = unknown<std::vector<ModuleFile>>("this is a container");
  kernel.headers = unknown<bool>("this is a container");
  kernel.dkms.clear();
  kernel.secure_boot = unknown<bool>("this is a container");
  kernel.log.lines = unknown<std::vector<LogLine>>("/dev/kmsg: permission denied");
  kernel.suspends.reset();
  kernel.modprobe_setuid = unknown<bool>("this is a container");
  kernel.dev_char_links.reset();
  kernel.persistenced_socket.reset();
  machine.driver.libcuda[0].owner.clear();
  machine.driver.libcuda[0].origin = Origin::container_injected;
  machine.driver.libnvidia_ml[0].owner.clear();
  machine.driver.libnvidia_ml[0].origin = Origin::container_injected;
  machine.packages.relevant = known<std::vector<Package>>({}, "/var/lib/dpkg/status");
  machine.services.clear();
  return machine;
}

// A machine on which there never was a GPU or a driver.
inline Machine no_gpu() {
  Machine machine = with_driver("580.65.06", 0, "", "", 0);
  KernelSide& kernel = machine.kernel;
  kernel.modules = known<std::vector<KernelModule>>({}, "/proc/modules");
  kernel.module_files = known<std::vector<ModuleFile>>({}, "/lib/modules/6.8.0-45-generic");
  kernel.module_version = unknown<std::string>("the nvidia module is not loaded");
  kernel.flavour = unknown<Flavour>("the nvidia module is not loaded");
  kernel.proc_gpus = unknown<std::vector<std::string>>("/proc/driver/nvidia: no such folder");
  kernel.char_majors = known<std::map<std::string, uint32_t>>({}, "/proc/devices");
  for (DeviceNode& node : kernel.nodes)
    node = absent_node(node.path);
  kernel.proc_params.clear();
  kernel.dkms.clear();
  kernel.modprobe_setuid = unknown<bool>("no nvidia-modprobe");
  kernel.dev_char_links.reset();
  kernel.persistenced_socket.reset();
  machine.nvml = {};
  machine.cuda = {};
  machine.nvml.asked.state = machine.cuda.asked.state = AskState::no_library;
  machine.nvml.asked.problem = "libnvidia-ml.so.1: cannot open shared object file";
  machine.cuda.asked.problem = "libcuda.so.1: cannot open shared object file";
  machine.driver = {};
  machine.driver.user_version = unknown<std::string>("no libcuda.so.1");
  machine.packages.relevant = known<std::vector<Package>>({}, "/var/lib/dpkg/status");
  machine.services.clear();
  return machine;
}

inline KernelModule* find_module(Machine& machine, std::string_view name) {
  std::vector<KernelModule>& modules = *machine.kernel.modules.value;
  auto at = std::find_if(modules.begin(), modules.end(),
                         [&](const KernelModule& module) { return module.name == name; });
  return at == modules.end() ? nullptr : &*at;
}

inline void unload(Machine& machine, std::string_view name) {
  std::erase_if(*machine.kernel.modules.value,
                [&](const KernelModule& module) { return module.name == name; });
}

inline DeviceNode& node(Machine& machine, std::string_view path) {
  for (DeviceNode& node : machine.kernel.nodes)
    if (node.path == path) return node;
  machine.kernel.nodes.push_back(absent_node(std::string(path)));
  return machine.kernel.nodes.back();
}

// What NVML, CUDA and /proc say when the nvidia module is not in the kernel.
inline void without_module(Machine& machine) {
  KernelSide& kernel = machine.kernel;
  for (const char* name : {"nvidia", "nvidia_uvm", "nvidia_modeset"})
    unload(machine, name);
  kernel.module_version = unknown<std::string>("no nvidia kernel module is loaded");
  kernel.flavour = unknown<Flavour>("no nvidia kernel module is loaded");
  kernel.proc_gpus = unknown<std::vector<std::string>>("/proc/driver/nvidia: no such folder");
  kernel.proc_gpu_information.clear();
  kernel.proc_params.clear();
  kernel.char_majors = known<std::map<std::string, uint32_t>>({}, "/proc/devices");
  kernel.dev_char_links.reset();
  kernel.persistenced_socket = false;
  for (DeviceNode& node : kernel.nodes)
    node = absent_node(node.path);
  for (PciFunction& function : *kernel.functions.value)
    function.driver.clear();
  machine.nvml = {};
  machine.cuda = {};
  machine.nvml.asked.state = machine.cuda.asked.state = AskState::failed;
  machine.nvml.asked.error = 9;
  machine.nvml.asked.error_text = "Driver Not Loaded";
  machine.cuda.asked.error = 100;
  machine.cuda.asked.error_text = "CUDA_ERROR_NO_DEVICE";
  machine.services.clear();
}

inline void log_line(Machine& machine, std::string text) {
  machine.kernel.log.lines.value->push_back({10.0, std::move(text)});
}

} // namespace gpuvet::testing
