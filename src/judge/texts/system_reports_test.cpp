// Kernel logs, lists of devices and messages as people paste them, and what people say themselves.
#include "judge/texts/testing/reports.hpp"

namespace gpuvet {
namespace {

using testing::expect_all;
using testing::facts_of;
using testing::Texts;

TEST(SystemReports, KernelLog) {
  const char* text =
      "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
      "NVRM: GPU at PCI:0000:17:00: GPU-0f1e\n"
      "NVRM: Xid (PCI:0000:17:00): 119, pid=2001, name=nvidia-smi, Timeout waiting for RPC\n"
      "NVRM: API mismatch: the client has the version 550.54.14, but\n"
      "NVRM: this kernel module has the version 535.104.05.  Please\n";
  EXPECT_EQ(facts_of(text), Texts({"driver.library=550.54.14", "driver.module=535.104.05",
                                   "driver.open=no", "xid=119"}));
  Machine machine = testing::read_lines(text).machine();
  ASSERT_EQ(machine.kernel.xids.size(), 1U);
  EXPECT_EQ(machine.kernel.xids[0].pci_address, "0000:17:00");
  ASSERT_TRUE(machine.kernel.log.lines);
  EXPECT_EQ(machine.kernel.log.lines->size(), 5U);
}

TEST(SystemReports, ModulesAndNodes) {
  const char* text = "$ lsmod | grep nvidia\n"
                     "nvidia_uvm           1523712  0\n"
                     "nvidia_drm             77824  5\n"
                     "nvidia              56823808  150 nvidia_uvm,nvidia_modeset\n"
                     "$ cat /proc/driver/nvidia/version\n"
                     "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.16  Release "
                     "Build  (archlinux-builder)\n"
                     "GCC version:  gcc version 14.2.1 20250128 (GCC)\n"
                     "$ mokutil --sb-state\nSecureBoot enabled\n"
                     "$ ls -l /dev/nvidia*\n"
                     "crw-rw-rw- 1 root root 195,   0 Nov 20 10:00 /dev/nvidia0\n";
  EXPECT_EQ(facts_of(text),
            Texts({"driver.module=570.86.16", "driver.open=yes", "module.loaded=nvidia",
                   "module.loaded=nvidia_drm", "module.loaded=nvidia_uvm",
                   "node./dev/nvidia0=crw-rw-rw- root root 195:0", "secure_boot=yes"}));
}

TEST(SystemReports, Modinfo) {
  const char* text = "filename:       /lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko.zst\n"
                     "version:        550.107.02\nsupported:      external\n"
                     "license:        Dual MIT/GPL\nvermagic:       6.8.0-45-generic SMP\n";
  EXPECT_EQ(facts_of(text), Texts({"driver.module_file=550.107.02", "driver.open=yes"}));
}

TEST(SystemReports, Lspci) {
  const char* text =
      "17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 PCIe] [10de:2331] (rev a1)\n"
      "        Subsystem: NVIDIA Corporation Device [10de:1626]\n"
      "        Kernel driver in use: nouveau\n"
      "        Kernel modules: nvidiafb, nouveau\n"
      "65:00.0 Audio device [0403]: NVIDIA Corporation GA102 High Definition Audio [10de:1aef]\n";
  EXPECT_EQ(facts_of(text),
            Texts({"gpu.kernel_driver=nouveau", "gpu.name=H100 PCIe", "gpu.pci_id=10de:2331"}));
  Machine machine = testing::read_lines(text).machine();
  ASSERT_TRUE(machine.kernel.functions);
  ASSERT_EQ(machine.kernel.functions->size(), 1U);
  EXPECT_EQ(machine.kernel.functions->front().address, "0000:17:00.0");
  EXPECT_EQ(machine.kernel.functions->front().device_class, 0x030200U);
}

TEST(SystemReports, LimitsOfAContainer) {
  EXPECT_EQ(
      facts_of(
          "root@3f2a1b4c5d6e:/workspace# df -h /dev/shm\n"
          "Filesystem      Size  Used Avail Use% Mounted on\n"
          "shm              64M     0   64M   0% /dev/shm\n"
          "$ ulimit -l\n64\n"
          "               total        used        free      shared  buff/cache   available\n"
          "Mem:           251Gi        12Gi       200Gi       1.0Gi        38Gi       236Gi\n"),
      Texts({"container=docker", "memlock=65536", "ram.bytes=269509197824", "shm.bytes=67108864"}));
}

TEST(SystemReports, Wsl) {
  expect_all("Linux host 5.15.133.1-microsoft-standard-WSL2 #1 SMP Thu Oct 5 2023 x86_64 GNU/Linux",
             {"wsl=yes", "kernel.version=5.15.133.1-microsoft-standard-WSL2"});
  Machine machine =
      testing::read_lines("WSL version: 2.0.9.0\nNvidia driver version: 551.88\n").machine();
  EXPECT_TRUE(machine.surroundings.wsl);
  EXPECT_FALSE(machine.kernel.module_version); // it is the driver of Windows
}

TEST(SystemReports, Messages) {
  expect_all(
      "RuntimeError:\n    The detected CUDA version (12.2) mismatches the version that was "
      "used to compile\n    PyTorch (11.3). Please make sure to use the same CUDA versions.\n",
      {"nvcc.version=12.2", "torch.cuda=11.3"});
  expect_all(
      "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the "
      "current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities "
      "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.\n",
      {"gpu.capability=12.0", "torch.archs=sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"});
  expect_all("Failed to initialize NVML: Driver/library version mismatch\n"
             "NVML library version: 535.161\n",
             {"nvml.error=18", "driver.library=535.161"});
}

TEST(SystemReports, WordsOfPeople) {
  EXPECT_EQ(
      facts_of("torch 2.2.0 cu118 (pip), Python 3.8"),
      Texts({"python.version=3.8 (said)", "torch.cuda=11.8 (said)", "torch.version=2.2.0 (said)"}));
  EXPECT_EQ(facts_of("RTX 3050 Laptop, Ubuntu 21.04, driver 470.86"),
            Texts({"driver.version=470.86 (said)", "gpu.name=RTX 3050 Laptop (said)",
                   "os.name=ubuntu (said)", "os.version=21.04 (said)"}));
  EXPECT_EQ(facts_of("Driver 384.111, CUDA toolkit 9.1"),
            Texts({"driver.version=384.111 (said)", "nvcc.version=9.1 (said)"}));
  EXPECT_EQ(facts_of("vllm: 0.3.2"), Texts({"package.vllm=0.3.2 (said)"}));
}

} // namespace
} // namespace gpuvet
