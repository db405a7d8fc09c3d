#include "judge/checks/driver/parts.hpp"
#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace testing;
using Ids = std::vector<std::string>;

// GPU 3 of eight is gone from NVML.
Machine one_lost() {
  Machine machine = healthy_h100();
  machine.nvml.gpus.erase(machine.nvml.gpus.begin() + 3);
  machine.nvml.count = 7U;
  return machine;
}

Ids fire(const Machine& machine) {
  return firing(driver::bringup_checks(), machine);
}

TEST(Bringup, HealthyMachinesAreQuiet) {
  for (const Machine& machine : {healthy_h100(), healthy_desktop_4090(), container(), no_gpu()})
    EXPECT_EQ(fire(machine), Ids{});
}

TEST(Bringup, DriverWithoutGpu) {
  Machine machine = healthy_desktop_4090();
  machine.kernel.functions.value->clear();
  machine.nvml.gpus.clear();
  machine.nvml.count = 0U;
  EXPECT_EQ(fire(machine), Ids{"no-gpu-on-bus"});
  machine.surroundings.hypervisor = known<std::string>("KVM", "DMI");
  EXPECT_EQ(ask(driver_checks(), "no-gpu-on-bus", machine).evidence.back(),
            "DMI: virtual machine (KVM)");
  machine.kernel.functions = unknown<std::vector<PciFunction>>("/sys is hidden");
  EXPECT_EQ(ask(driver_checks(), "no-gpu-on-bus", machine).answer, Answer::unknown);
}

TEST(Bringup, FirmwareGaveNoRoom) {
  Machine machine = one_lost();
  machine.kernel.functions.value->at(3).bars[1].start = 0;
  log_line(machine, "NVRM: BAR1 is 0M @ 0x0 (PCI:0000:40:00.0)");
  EXPECT_EQ(found(machine, {"driver"}), Ids{"bar-not-assigned"});
  EXPECT_EQ(ask(driver_checks(), "bar-not-assigned", machine).severity, Severity::error);
  // A GPU that works has what it needs, whatever the file says.
  machine = healthy_h100();
  machine.kernel.functions.value->at(3).bars[3] = {0, 32U << 20U};
  EXPECT_EQ(ask(driver_checks(), "bar-not-assigned", machine).answer, Answer::ok);
}

TEST(Bringup, InitFailedWithItsCode) {
  Machine machine = one_lost();
  log_line(machine, "NVRM: GPU 0000:40:00.0: RmInitAdapter failed! (0x62:0x65:1998)");
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gpu-init-failed"});
  Outcome outcome = ask(driver_checks(), "gpu-init-failed", machine);
  EXPECT_EQ(outcome.fields["gpu"], "GPU 0000:40:00.0");
  EXPECT_EQ(outcome.fields["code"], "(0x62:0x65:1998)");
  log_line(machine, "NVRM: unexpected WPR2 already up, cannot proceed with booting GSP");
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gpu-firmware-still-up"});
  // It came up later: the log tells of before.
  machine = healthy_h100();
  log_line(machine, "NVRM: GPU 0000:40:00.0: RmInitAdapter failed! (0x62:0x65:1998)");
  EXPECT_EQ(ask(driver_checks(), "gpu-init-failed", machine).answer, Answer::ok);
}

TEST(Bringup, GpusThatBelongElsewhere) {
  Machine machine = one_lost();
  PciFunction& function = machine.kernel.functions.value->at(3);
  function.driver = "vfio-pci";
  EXPECT_EQ(fire(machine), Ids{"gpu-for-virtual-machines"});
  function.driver = "nouveau";
  EXPECT_EQ(fire(machine), Ids{"gpu-held-by-other-driver"});
  function.driver = "";
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gpu-without-driver"});
  function.driver = "nvidia";
  EXPECT_EQ(fire(machine), Ids{"gpu-not-in-nvml"});
  machine.kernel.proc_gpu_information["0000:40:00.0"]["GPU Excluded"] = "Yes";
  EXPECT_EQ(fire(machine), Ids{"gpu-excluded"});
}

TEST(Bringup, AContainerMaySeeSomeGpusOnly) {
  Machine machine = container();
  machine.kernel.functions.value->push_back(pci_function("0000:20:00.0", "10de:2330", "nvidia"));
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(Bringup, FirmwareFileIsMissing) {
  Machine machine = one_lost();
  log_line(machine, "nvidia 0000:40:00.0: Direct firmware load for "
                    "nvidia/580.65.06/gsp_ga10x.bin failed with error -2");
  log_line(machine, "NVRM: GPU 0000:40:00.0: RmInitAdapter failed! (0x61:0x56:1697)");
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gsp-firmware-missing"});
}

} // namespace
} // namespace gpuvet
