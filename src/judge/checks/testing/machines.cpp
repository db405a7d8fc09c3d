// Whole machines.
#include "judge/checks/testing/machines.hpp"

#include <fmt/core.h>

#include <utility>

namespace gpuvet::testing {

Machine with_driver(const std::string& version, uint32_t gpus, const std::string& id,
                    const std::string& name, uint32_t capability, uint32_t device_class) {
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

Machine healthy_h100() {
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

Machine healthy_desktop_4090() {
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

Machine container() {
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

Machine no_gpu() {
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

} // namespace gpuvet::testing
