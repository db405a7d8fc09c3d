#include "judge/checks/driver/parts.hpp"
#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace testing;
using Ids = std::vector<std::string>;

// One GPU of this id that the loaded driver does not serve.
Machine with_unserved(const std::string& id, Flavour flavour, const std::string& version) {
  Machine machine = healthy_desktop_4090();
  machine.kernel.functions.value->at(0).id = id;
  machine.kernel.flavour = known(flavour, "/proc/driver/nvidia/version");
  machine.kernel.module_version = known(version, "/sys/module/nvidia/version");
  machine.driver.user_version = known(version, "libcuda.so.1");
  for (ModuleFile& file : *machine.kernel.module_files.value)
    file.version = version;
  for (KernelModule& module : *machine.kernel.modules.value)
    module.version = version;
  machine.driver.libcuda[0].version = version;
  machine.nvml.gpus.clear();
  machine.nvml.count = 0U;
  machine.cuda.devices.clear();
  machine.cuda.asked.state = AskState::failed;
  machine.cuda.asked.error = 100;
  return machine;
}

Ids fire(const Machine& machine) {
  return firing(driver::gpu_checks(), machine);
}

TEST(DriverGpus, HealthyMachinesAreQuiet) {
  for (const Machine& machine : {healthy_h100(), healthy_desktop_4090(), container(), no_gpu()})
    EXPECT_EQ(fire(machine), Ids{});
}

TEST(DriverGpus, BlackwellNeedsTheOpenModule) {
  Machine machine = with_unserved("10de:2b85", Flavour::proprietary, "580.65.06");
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gpu-needs-open-module"});
  EXPECT_EQ(first_command(machine, "gpu-needs-open-module"),
            "sudo apt install nvidia-driver-580-open && sudo reboot");
  machine.kernel.flavour = unknown<Flavour>("not told");
  machine.kernel.module_files.value->clear();
  EXPECT_EQ(ask(driver_checks(), "gpu-needs-open-module", machine).answer, Answer::unknown);
}

TEST(DriverGpus, PascalNeedsTheProprietaryModule) {
  Machine machine = with_unserved("10de:1b06", Flavour::open, "580.65.06");
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gpu-needs-proprietary-module"});
  EXPECT_EQ(first_command(machine, "gpu-needs-proprietary-module"),
            "sudo apt install nvidia-driver-580 && sudo reboot");
}

TEST(DriverGpus, Branch590DroppedMaxwellToVolta) {
  Machine machine = with_unserved("10de:1b06", Flavour::open, "590.48.01");
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gpu-dropped-by-branch"});
  EXPECT_EQ(first_command(machine, "gpu-dropped-by-branch"),
            "sudo apt install nvidia-driver-580 && sudo reboot");
  // The same card with a branch that knows it.
  machine = with_unserved("10de:1b06", Flavour::proprietary, "580.65.06");
  EXPECT_EQ(ask(driver_checks(), "gpu-dropped-by-branch", machine).answer, Answer::ok);
}

TEST(DriverGpus, DroppedGpuKeepsTheModuleFromLoading) {
  Machine machine = with_unserved("10de:1b06", Flavour::proprietary, "590.48.01");
  without_module(machine);
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gpu-dropped-by-branch"});
  EXPECT_EQ(ask(driver_checks(), "gpu-dropped-by-branch", machine).severity, Severity::blocker);
}

TEST(DriverGpus, TooNewIsLikelyUntilTheDriverSaysSo) {
  Machine machine = with_unserved("10de:2b85", Flavour::open, "550.54.15");
  Outcome outcome = ask(driver_checks(), "gpu-newer-than-driver", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_NE(outcome.missing, "");
  EXPECT_EQ(first_command(machine, "gpu-newer-than-driver"),
            "sudo apt install nvidia-driver-570-open && sudo reboot");
  log_line(machine, "NVRM: installed in this system is not supported by the");
  log_line(machine, "NVRM: NVIDIA 550.54.15 driver release.");
  EXPECT_EQ(ask(driver_checks(), "gpu-newer-than-driver", machine).missing, "");
}

TEST(DriverGpus, WhatNvmlServesIsFineWhateverTheTablesSay) {
  Machine machine = healthy_desktop_4090();
  machine.kernel.functions.value->at(0).id = "10de:1b06";
  machine.kernel.module_version = known<std::string>("590.48.01", "/sys/module/nvidia/version");
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(DriverGpus, NoDriverServesBothGenerations) {
  Machine machine = with_unserved("10de:2b85", Flavour::proprietary, "580.65.06");
  machine.kernel.functions.value->push_back(
      pci_function("0000:20:00.0", "10de:1b06", "nvidia", 0x030000));
  machine.nvml.gpus.push_back(nvml_gpu(1, "NVIDIA GeForce GTX 1080 Ti", 61));
  machine.nvml.count = 1U;
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gpus-need-different-drivers"});
  EXPECT_EQ(ask(driver_checks(), "gpus-need-different-drivers", machine).severity, Severity::error);
  machine.kernel.functions.value->at(1).id = "10de:1e07"; // RTX 2080 Ti goes with both
  EXPECT_EQ(found(machine, {"driver"}), Ids{"gpu-needs-open-module"});
}

} // namespace
} // namespace gpuvet
