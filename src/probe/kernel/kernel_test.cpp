#include "probe/testing/recorded_machine.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

namespace gpuvet {
namespace {

using testing::RecordedMachine;

const std::string kBus = "/sys/bus/pci/devices/";
const std::string kKernel = "6.8.0-45-generic";

RecordedMachine with_kernel() {
  RecordedMachine machine;
  SystemFacts system;
  system.kernel_release = known(kKernel, "test");
  machine.recording->system = system;
  return machine;
}

void add_function(RecordedMachine& machine, const std::string& address, const std::string& parent,
                  const std::string& vendor, const std::string& device,
                  const std::string& device_class) {
  std::string real = "/sys/devices/pci0000:00/" + parent + address;
  machine.link(kBus + address, "../../../devices/pci0000:00/" + parent + address);
  machine.text(real + "/vendor", vendor + "\n").text(real + "/device", device + "\n");
  machine.text(real + "/class", device_class + "\n");
}

KernelSide probe(const RecordedMachine& machine) {
  return machine.probed(probe_kernel).kernel;
}

// A bridge's extended configuration space with an ACS capability behind another one.
std::string config_with_acs(uint16_t control) {
  std::string config(4096, '\0');
  auto put = [&](size_t at, uint32_t value) { std::memcpy(config.data() + at, &value, 4); };
  put(0, 0x12348086);
  put(0x100, 0x15010001); // AER, next at 0x150
  put(0x150, 0x0001000d); // ACS, last
  put(0x154, uint32_t{control} << 16 | 0x1f);
  return config;
}

TEST(KernelPci, ReadsFunctionsOfNvidiaOnly) {
  RecordedMachine machine;
  add_function(machine, "0000:01:00.0", "0000:00:01.0/", "0x10de", "0x2335", "0x030200");
  add_function(machine, "0000:02:00.0", "", "0x10de", "0x2335", "0x030200");
  add_function(machine, "0000:00:01.0", "", "0x8086", "0x1111", "0x060400");
  std::string gpu = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/";
  std::string port = "/sys/devices/pci0000:00/0000:00:01.0/";
  machine.text(gpu + "subsystem_vendor", "0x10de").text(gpu + "subsystem_device", "0x16c1");
  machine.link(gpu + "driver", "../../../bus/pci/drivers/nvidia");
  machine.text(gpu + "numa_node", "-1\n").text(gpu + "current_link_width", "8\n");
  machine.text(gpu + "max_link_speed", "32.0 GT/s PCIe\n").text(gpu + "max_link_width", "16\n");
  machine.text(gpu + "aer_dev_correctable", "RxErr 3\nBadTLP 1\nTOTAL_ERR_COR 4\n");
  machine.text(gpu + "resource", "0x0000104002000000 0x0000104002ffffff 0x000000000014220c\n"
                                 "0x0000000000000000 0x0000001fffffffff 0x0000000020140204\n"
                                 "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
  machine.binary(gpu + "config", std::string(64, '\xff')).text(gpu + "enable", "0\n");
  machine.text(gpu + "power/control", "auto\n").text(gpu + "power/runtime_status", "active\n");
  machine.text(gpu + "msi_irqs/41", "msix\n");
  machine.text(port + "max_link_speed", "8.0 GT/s PCIe\n").text(port + "max_link_width", "8\n");
  machine.text(port + "power/control", "on\n").binary(port + "config", config_with_acs(0x1d));
  KernelSide side = probe(machine);
  ASSERT_TRUE(side.functions);
  ASSERT_EQ(side.functions->size(), 2u);
  const PciFunction& function = side.functions->front();
  EXPECT_EQ(function.address, "0000:01:00.0");
  EXPECT_EQ(function.id, "10de:2335");
  EXPECT_EQ(function.subsystem, "10de:16c1");
  EXPECT_EQ(function.device_class, 0x030200u);
  EXPECT_EQ(function.driver, "nvidia");
  EXPECT_FALSE(function.numa_node);
  EXPECT_EQ(function.link_width, 8u);
  EXPECT_EQ(function.link_width_max, 16u);
  EXPECT_EQ(function.port_address, "0000:00:01.0");
  EXPECT_EQ(function.port_width_max, 8u);
  EXPECT_EQ(function.port_speed_max, "8.0 GT/s PCIe");
  EXPECT_EQ(function.acs_redirects, true);
  EXPECT_EQ(function.aer_correctable, 4u);
  EXPECT_FALSE(function.aer_fatal);
  ASSERT_EQ(function.bars.size(), 3u);
  EXPECT_EQ(function.bars[0].size, 0x1000000u);
  EXPECT_EQ(function.bars[1].start, 0u); // no room was given to it
  EXPECT_EQ(function.bars[1].size, 0x2000000000u);
  EXPECT_EQ(function.config_all_ones, true);
  EXPECT_EQ(function.enabled, false);
  EXPECT_EQ(function.interrupts, 1u);
}

TEST(KernelPci, AcsIsUnknownWithoutRootAndFalseWithoutRedirection) {
  RecordedMachine machine;
  add_function(machine, "0000:01:00.0", "0000:00:01.0/", "0x10de", "0x2335", "0x030200");
  add_function(machine, "0000:01:00.1", "0000:00:01.0/", "0x10de", "0x2335", "0x030200");
  add_function(machine, "0000:00:01.0", "", "0x8086", "0x1111", "0x060400");
  std::string port = "/sys/devices/pci0000:00/0000:00:01.0/config";
  machine.binary(port, config_with_acs(0).substr(0, 64));
  EXPECT_FALSE(probe(machine).functions->front().acs_redirects.has_value());
  machine.binary(port, config_with_acs(0x01)); // source validation only
  EXPECT_EQ(probe(machine).functions->front().acs_redirects, false);
  machine.recording->files.erase(kBus + "0000:01:00.1");
  EXPECT_FALSE(probe(machine).functions->front().acs_redirects.has_value()); // nobody to talk to
}

TEST(KernelPci, ASleepingGpuIsNotWoken) {
  RecordedMachine machine;
  add_function(machine, "0000:01:00.0", "", "0x10de", "0x2684", "0x030000");
  std::string gpu = "/sys/devices/pci0000:00/0000:01:00.0/";
  machine.binary(gpu + "config", std::string(64, '\xff'));
  machine.text(gpu + "power/runtime_status", "suspended\n");
  KernelSide side = probe(machine);
  EXPECT_EQ(side.functions->front().runtime_status, "suspended");
  EXPECT_FALSE(side.functions->front().config_all_ones);
}

TEST(KernelPci, ALiveGpuWhoseLinkAnswersIsNotAskedForItsConfig) {
  RecordedMachine machine;
  add_function(machine, "0000:01:00.0", "", "0x10de", "0x2335", "0x030200");
  std::string gpu = "/sys/devices/pci0000:00/0000:01:00.0/";
  machine.text(gpu + "current_link_width", "16\n");
  Source source = replay_source(machine.recording);
  source.kind = Seen::live;
  auto read = source.read_file;
  bool asked = false;
  source.read_file = [&](const std::string& path, size_t most) {
    asked = asked || path.ends_with("/config");
    return read(path, most);
  };
  Machine seen;
  probe_kernel(source, seen);
  EXPECT_EQ(seen.kernel.functions->front().config_all_ones, false);
  EXPECT_FALSE(asked);
  machine.text(gpu + "current_link_width", "63\n").binary(gpu + "config", std::string(64, '\xff'));
  EXPECT_EQ(probe(machine).functions->front().config_all_ones, true);
}

TEST(KernelPci, NoBusIsUnknown) {
  KernelSide side = probe(RecordedMachine());
  EXPECT_FALSE(side.functions);
  EXPECT_NE(side.functions.why_unknown.find("/sys/bus/pci/devices"), std::string::npos);
}

TEST(KernelModules, TellsLoadedOnesWithParameters) {
  RecordedMachine machine;
  machine.text("/proc/modules", "nvidia_uvm 1830912 2 - Live 0x0000000000000000 (O)\n"
                                "nvidia 14299136 17 nvidia_uvm, Live 0x0000000000000000 (POE)\n"
                                "ext4 1000 1 - Live 0x0000000000000000\n");
  machine.text("/sys/module/nvidia/version", "550.127.05\n")
      .text("/sys/module/nvidia/taint", "POE");
  machine.text("/sys/module/nvidia/holders/nvidia_uvm", "");
  machine.text("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm", "N\n");
  KernelSide side = probe(machine);
  ASSERT_TRUE(side.modules);
  ASSERT_EQ(side.modules->size(), 2u);
  EXPECT_EQ((*side.modules)[0].parameters.at("uvm_disable_hmm"), "N");
  EXPECT_EQ((*side.modules)[1].state, "live");
  EXPECT_EQ((*side.modules)[1].references, 17u);
  EXPECT_EQ((*side.modules)[1].holders, std::vector<std::string>{"nvidia_uvm"});
  EXPECT_EQ(*side.module_version, "550.127.05");
  EXPECT_EQ(*side.flavour, Flavour::proprietary);
}

TEST(KernelModules, TheVersionFileNamesTheOpenFlavour) {
  RecordedMachine machine;
  machine.text("/proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build "
               " (nixbld@)  \nGCC version:  gcc version 15.3.0 (GCC)\n");
  KernelSide side = probe(machine);
  EXPECT_EQ(*side.module_version, "580.159.04");
  EXPECT_EQ(*side.flavour, Flavour::open);
  EXPECT_FALSE(side.modules);
}

TEST(KernelModules, NothingLoadedIsUnknownWithTheFiles) {
  RecordedMachine machine;
  machine.text("/proc/modules", "ext4 1000 1 - Live 0x0000000000000000\n");
  KernelSide side = probe(machine);
  EXPECT_TRUE(side.modules->empty());
  EXPECT_FALSE(side.module_version);
  EXPECT_NE(side.module_version.why_unknown.find("/sys/module/nvidia/version"), std::string::npos);
  EXPECT_FALSE(side.flavour);
}

TEST(KernelModuleFiles, AreFoundWhereInstallersPutThem) {
  RecordedMachine machine = with_kernel();
  std::string base = "/lib/modules/" + kKernel;
  std::string dkms = base + "/updates/dkms/", ubuntu = base + "/kernel/nvidia-550-open/";
  machine.present(dkms + "nvidia.ko.zst").present(dkms + "nvidia-modeset.ko.zst");
  machine.present(dkms + "other.ko.zst").present(ubuntu + "nvidia.ko");
  ModuleInfo modeset{.version = "550.127.05", .license = "NVIDIA", .is_signed = false};
  machine.recording->module_infos[dkms + "nvidia-modeset.ko.zst"] = modeset;
  machine.recording->module_infos[ubuntu + "nvidia.ko"] = {
      .version = "550.120", .license = "Dual MIT/GPL", .is_signed = true, .signer = "Canonical"};
  machine.present("/lib/modules/5.15.0-1/kernel/drivers/video/nvidia.ko");
  machine.folder("/lib/modules/5.4.0-1/kernel");
  KernelSide side = probe(machine);
  ASSERT_TRUE(side.module_files);
  ASSERT_EQ(side.module_files->size(), 3u);
  const ModuleFile& packaged = (*side.module_files)[0];
  EXPECT_EQ(packaged.path, ubuntu + "nvidia.ko");
  EXPECT_EQ(packaged.version, "550.120");
  EXPECT_EQ(packaged.signer, "Canonical");
  const ModuleFile& built = (*side.module_files)[2];
  EXPECT_EQ(built.path, dkms + "nvidia.ko.zst");
  EXPECT_EQ(built.version, "550.127.05"); // as its neighbour says
  EXPECT_EQ(built.license, "NVIDIA");
  EXPECT_EQ(built.told_by, dkms + "nvidia-modeset.ko.zst");
  EXPECT_FALSE(built.problem.empty());
  EXPECT_EQ(side.other_kernels_with_module, std::vector<std::string>{"5.15.0-1"});
  EXPECT_EQ(*side.headers, false);
}

TEST(KernelModuleFiles, HeadersAreCompleteWithMakefileAndInclude) {
  RecordedMachine machine = with_kernel();
  machine.link("/lib/modules/" + kKernel + "/build", "/usr/src/linux-headers-" + kKernel);
  EXPECT_EQ(*probe(machine).headers, false); // dangling
  machine.present("/usr/src/linux-headers-" + kKernel + "/Makefile");
  machine.folder("/usr/src/linux-headers-" + kKernel + "/include");
  EXPECT_EQ(*probe(machine).headers, true);
}

TEST(KernelModuleFiles, AContainerWithoutModulesDoesNotKnow) {
  KernelSide side = probe(with_kernel());
  EXPECT_FALSE(side.module_files);
  EXPECT_FALSE(side.headers);
}

TEST(KernelNodes, TellsNodesMajorsAndAccess) {
  RecordedMachine machine;
  machine.text("/proc/devices", "Character devices:\n  1 mem\n195 nvidia\n238 nvidia-uvm\n\n"
                                "Block devices:\n259 blkext\n");
  machine.node("/dev/nvidiactl", 195, 255).open_error = EPERM;
  machine.node("/dev/nvidia0", 195, 0).access_error = EACCES;
  machine.node("/dev/nvidia-caps/nvidia-cap1", 241, 1).mode = 0400;
  machine.folder("/dev/char");
  KernelSide side = probe(machine);
  ASSERT_TRUE(side.char_majors);
  EXPECT_EQ(side.char_majors->at("nvidia-uvm"), 238u);
  EXPECT_EQ(side.char_majors->count("blkext"), 0u);
  ASSERT_EQ(side.nodes.size(), 5u);
  EXPECT_EQ(side.nodes[0].path, "/dev/nvidiactl");
  EXPECT_EQ(side.nodes[0].open_error, EPERM);
  EXPECT_EQ(side.nodes[1].path, "/dev/nvidia-uvm");
  EXPECT_FALSE(side.nodes[1].exists);
  EXPECT_EQ(side.nodes[3].path, "/dev/nvidia0");
  EXPECT_EQ(side.nodes[3].open_error, EACCES);
  EXPECT_EQ(side.nodes[4].path, "/dev/nvidia-caps/nvidia-cap1");
  EXPECT_EQ(side.nodes[4].mode, 0400u);
  EXPECT_EQ(side.dev_char_links, false);
}

TEST(KernelNodes, OnlyAnImageDoesNotKnowWhatIsNotInDev) {
  RecordedMachine machine;
  ASSERT_EQ(probe(machine).nodes.size(), 3u);
  EXPECT_FALSE(probe(machine).nodes[0].exists);
  Source image = replay_source(machine.recording);
  image.kind = Seen::image_folder;
  Machine seen;
  probe_kernel(image, seen);
  EXPECT_TRUE(seen.kernel.nodes.empty());
}

TEST(KernelProc, TellsGpusParametersAndCapabilities) {
  RecordedMachine machine;
  std::string folder = "/proc/driver/nvidia/";
  machine.text(folder + "gpus/0000:00:06.0/information",
               "Model: \t\t NVIDIA H200\nBus Location: \t 0000:00:06.0\nGPU Excluded:\t No\n");
  machine.text(folder + "params", "PreserveVideoMemoryAllocations: 1\nExcludedGpus: \"GPU-1\"\n");
  machine.text(folder + "capabilities/mig/config", "DeviceFileMinor: 1\nDeviceFileMode: 256\n");
  machine.text(folder + "capabilities/gpu0/mig/gi1/ci0/access", "DeviceFileMinor: 13\n");
  KernelSide side = probe(machine);
  EXPECT_EQ(*side.proc_gpus, std::vector<std::string>{"0000:00:06.0"});
  EXPECT_EQ(side.proc_gpu_information["0000:00:06.0"]["Model"], "NVIDIA H200");
  EXPECT_EQ(side.proc_gpu_information["0000:00:06.0"]["Bus Location"], "0000:00:06.0");
  EXPECT_EQ(side.proc_params["ExcludedGpus"], "GPU-1");
  ASSERT_EQ(side.capabilities.size(), 2u);
  EXPECT_EQ(side.capabilities[0].name, "mig/config");
  EXPECT_EQ(side.capabilities[1].name, "gpu0/mig/gi1/ci0/access");
  EXPECT_EQ(side.capabilities[1].minor, 13u);
}

TEST(KernelDkms, TellsInstalledBuildsAndFailedOnes) {
  RecordedMachine machine;
  std::string tree = "/var/lib/dkms/nvidia/";
  machine.present(tree + "550.127.05/5.15.0-1-generic/x86_64/module/nvidia.ko");
  machine.link(tree + "kernel-5.15.0-1-generic-x86_64", "550.127.05/5.15.0-1-generic/x86_64");
  machine.link(tree + "550.127.05/source", "/usr/src/nvidia-550.127.05");
  machine.text(tree + "550.127.05/build/make.log",
               "DKMS make.log for nvidia-550.127.05 for kernel 6.11.0-9-generic (x86_64)\n"
               "make: Entering directory\n"
               "nv-drm.c:12:5: error: implicit declaration of function 'x'\n"
               "make[1]: *** [Makefile:1] Error 2\n");
  machine.link(tree + "535.54.03/source", "/usr/src/nvidia-535.54.03");
  KernelSide side = probe(machine);
  ASSERT_EQ(side.dkms.size(), 3u);
  EXPECT_EQ(side.dkms[0].version, "535.54.03");
  EXPECT_EQ(side.dkms[0].state, "added");
  EXPECT_EQ(side.dkms[1].kernel, "5.15.0-1-generic");
  EXPECT_EQ(side.dkms[1].state, "installed");
  EXPECT_EQ(side.dkms[2].kernel, "6.11.0-9-generic");
  EXPECT_EQ(side.dkms[2].log, tree + "550.127.05/build/make.log");
  EXPECT_NE(side.dkms[2].error.find("implicit declaration"), std::string::npos);
}

TEST(KernelBoot, SecureBootIsTheLastByte) {
  const std::string file =
      "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  RecordedMachine machine;
  EXPECT_FALSE(probe(machine).secure_boot); // nothing is shown at all
  machine.folder("/sys/firmware/acpi");
  EXPECT_EQ(*probe(machine).secure_boot, false);
  machine.binary(file, std::string("\x06\0\0\0\x01", 5));
  EXPECT_EQ(*probe(machine).secure_boot, true);
  machine.unreadable(file, "Permission denied");
  EXPECT_FALSE(probe(machine).secure_boot);
}

TEST(KernelBoot, CompilerLockdownAndCommandLine) {
  RecordedMachine machine;
  machine.text("/proc/version",
               "Linux version 6.8.0-45-generic (buildd@lcy02-amd64-115) (x86_64-linux-gnu-gcc-13 "
               "(Ubuntu 13.2.0-23ubuntu4) 13.2.0, GNU ld (GNU Binutils for Ubuntu) 2.42) #45");
  machine.text("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  machine.text("/proc/cmdline", "root=/dev/sda1 iommu=pt\n");
  machine.folder("/sys/class/iommu").text("/sys/fs/selinux/enforce", "1");
  KernelSide side = probe(machine);
  EXPECT_EQ(*side.kernel_compiler, "gcc 13.2.0");
  EXPECT_EQ(side.lockdown, "integrity");
  EXPECT_EQ(*side.command_line, "root=/dev/sda1 iommu=pt");
  EXPECT_EQ(*side.iommu, false);
  EXPECT_EQ(*side.selinux_enforcing, true);
}

TEST(KernelBoot, MemoryKeptForContiguousBuffers) {
  const std::string file = "/proc/meminfo";
  RecordedMachine machine;
  EXPECT_FALSE(probe(machine).cma_free_bytes);
  machine.text(file, "MemTotal: 125000000 kB\nCmaTotal: 32768 kB\nCmaFree: 9753600 kB\n");
  EXPECT_EQ(*probe(machine).cma_bytes, 32768ULL * 1024);
  EXPECT_EQ(*probe(machine).cma_free_bytes, 9753600ULL * 1024);
  machine.text(file, "MemTotal: 125000000 kB\n"); // a kernel without such areas
  EXPECT_EQ(*probe(machine).cma_free_bytes, 0U);
  machine.text(file, "CmaTotal: 99999999999999999999 kB\nCmaFree:\n");
  EXPECT_FALSE(probe(machine).cma_bytes);
  EXPECT_FALSE(probe(machine).cma_free_bytes);
}

TEST(KernelSettings, EtcHidesFilesOfTheSameName) {
  RecordedMachine machine;
  machine.text("/etc/modprobe.d/nvidia.conf", "# options nvidia x=1\n\noptions nvidia y=2\n");
  machine.text("/usr/lib/modprobe.d/nvidia.conf", "options nvidia z=3\n");
  machine.text("/usr/lib/modprobe.d/b.conf", "blacklist nouveau\nblacklist pcspkr\n");
  machine.text("/etc/modules-load.d/cuda.conf", "nvidia-uvm\n");
  KernelSide side = probe(machine);
  EXPECT_EQ(side.modprobe_lines,
            (std::vector<std::string>{"/etc/modprobe.d/nvidia.conf:3: options nvidia y=2",
                                      "/usr/lib/modprobe.d/b.conf:1: blacklist nouveau"}));
  EXPECT_EQ(side.modules_load,
            std::vector<std::string>{"/etc/modules-load.d/cuda.conf:1: nvidia-uvm"});
}

TEST(KernelLog, RepeatedXidsAreOneEvent) {
  RecordedMachine machine;
  const std::string lost = "pid=1234, name=python, GPU has fallen off the bus.";
  machine.log(1, "NVRM: Xid (PCI:0000:65:00): 79, " + lost);
  machine.log(2, "NVRM: Xid (PCI:0000:65:00): 79, " + lost);
  machine.log(3, "NVRM: Xid (PCI:0000:18:00 GPU-I:02): 31, pid='<unknown>', name=<unknown>, "
                 "Ch 0000000c, intr 00000000. MMU Fault at 0x7f_00000000");
  machine.log(4, "NVRM: Xid (PCI:0000:18:00 GPU-I:02): 31, pid=7, name=a, "
                 "Ch 0000000d, intr 00000000. MMU Fault at 0x7f_11110000");
  machine.log(5, "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS");
  machine.log(6, "somebody: Xid (PCI:0000:65:00): 13, not of the driver");
  machine.log(7, "PM: suspend exit");
  KernelSide side = probe(machine);
  ASSERT_EQ(side.xids.size(), 3u);
  EXPECT_EQ(side.xids[0].code, 79u);
  EXPECT_EQ(side.xids[0].pci_address, "0000:65:00");
  EXPECT_EQ(side.xids[0].process, "pid=1234, name=python");
  EXPECT_EQ(side.xids[0].detail, "GPU has fallen off the bus.");
  EXPECT_EQ(side.xids[0].count, 2u);
  EXPECT_EQ(side.xids[0].first_s, 1.0);
  EXPECT_EQ(side.xids[0].last_s, 2.0);
  EXPECT_EQ(side.xids[1].pci_address, "0000:18:00");
  EXPECT_EQ(side.xids[1].count, 2u);
  EXPECT_TRUE(side.xids[2].sxid);
  EXPECT_EQ(side.xids[2].code, 28006u);
  EXPECT_EQ(side.xids[2].detail, "Non-fatal, Link 46 MC TS");
  EXPECT_EQ(side.suspends, 1u);
}

TEST(KernelLog, AnUnreadableLogTellsNoCounts) {
  RecordedMachine machine;
  machine.recording->log = KernelLog{unknown<std::vector<LogLine>>("Permission denied"), ""};
  KernelSide side = probe(machine);
  EXPECT_FALSE(side.suspends);
  EXPECT_TRUE(side.xids.empty());
}

} // namespace
} // namespace gpuvet
