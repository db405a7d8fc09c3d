#include "judge/checks/driver/parts.hpp"
#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace testing;
using Ids = std::vector<std::string>;

Machine with_cuda_error(int error, const std::string& text) {
  Machine machine = healthy_desktop_4090();
  machine.cuda = {};
  machine.cuda.asked.state = AskState::failed;
  machine.cuda.asked.error = error;
  machine.cuda.asked.error_text = text;
  return machine;
}

Ids fire(const Machine& machine) {
  return firing(driver::state_checks(), machine);
}

TEST(DriverState, HealthyMachinesAreQuiet) {
  for (const Machine& machine : {healthy_h100(), healthy_desktop_4090(), container(), no_gpu()})
    EXPECT_EQ(fire(machine), Ids{});
}

TEST(DriverState, UvmIsNotLoaded) {
  Machine machine = with_cuda_error(999, "CUDA_ERROR_UNKNOWN");
  unload(machine, "nvidia_uvm");
  node(machine, "/dev/nvidia-uvm") = absent_node("/dev/nvidia-uvm");
  EXPECT_EQ(found(machine), Ids{"uvm-not-loaded"});
  EXPECT_EQ(first_command(machine, "uvm-not-loaded"), "sudo nvidia-modprobe -u -c 0");
  // Nobody has run CUDA yet and nvidia-modprobe will load it: no fault.
  machine.cuda.asked.state = AskState::skipped;
  EXPECT_EQ(ask(driver_checks(), "uvm-not-loaded", machine).answer, Answer::ok);
  machine.kernel.modprobe_setuid = known(false, "/usr/bin/nvidia-modprobe is not there");
  Outcome outcome = ask(driver_checks(), "uvm-not-loaded", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_NE(outcome.missing, "");
  machine.kernel.modprobe_setuid = unknown<bool>("cannot be read");
  EXPECT_EQ(ask(driver_checks(), "uvm-not-loaded", machine).answer, Answer::unknown);
}

TEST(DriverState, UvmOfAnotherRelease) {
  Machine machine = healthy_desktop_4090();
  find_module(machine, "nvidia_uvm")->version = "570.86.10";
  EXPECT_EQ(fire(machine), Ids{"uvm-version-differs"});
}

TEST(DriverState, SuspendBrokeCuda) {
  Machine machine = with_cuda_error(999, "CUDA_ERROR_UNKNOWN");
  EXPECT_EQ(fire(machine), Ids{});
  machine.kernel.suspends = 2U;
  EXPECT_EQ(found(machine), Ids{"suspend-broke-cuda"});
  EXPECT_EQ(first_command(machine, "suspend-broke-cuda"),
            "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm");
  machine.kernel.suspends.reset();
  EXPECT_EQ(ask(driver_checks(), "suspend-broke-cuda", machine).answer, Answer::unknown);
  machine.kernel.suspends = 2U;
  machine.cuda.asked.error = 802;
  EXPECT_EQ(ask(driver_checks(), "suspend-broke-cuda", machine).answer, Answer::not_applicable);
}

TEST(DriverState, SuspendIsHalfSetUp) {
  Machine machine = healthy_desktop_4090();
  machine.kernel.proc_params["PreserveVideoMemoryAllocations"] = "1";
  EXPECT_EQ(ask(driver_checks(), "suspend-half-set-up", machine).answer, Answer::unknown);
  machine.kernel.suspend_units_enabled = true;
  EXPECT_EQ(ask(driver_checks(), "suspend-half-set-up", machine).answer, Answer::ok);
  machine.kernel.suspend_units_enabled = false;
  EXPECT_EQ(fire(machine), Ids{"suspend-half-set-up"});
}

TEST(DriverState, HmmOfTheOpenModule) {
  Machine machine = with_cuda_error(3, "CUDA_ERROR_NOT_INITIALIZED");
  EXPECT_EQ(fire(machine), Ids{}); // proprietary
  machine.kernel.flavour = known(Flavour::open, "/proc/driver/nvidia/version");
  EXPECT_NE(ask(driver_checks(), "hmm-init-failed", machine).missing, "");
  find_module(machine, "nvidia_uvm")->parameters["uvm_disable_hmm"] = "N";
  EXPECT_EQ(found(machine), Ids{"hmm-init-failed"});
  EXPECT_EQ(ask(driver_checks(), "hmm-init-failed", machine).missing, "");
  find_module(machine, "nvidia_uvm")->parameters["uvm_disable_hmm"] = "Y";
  EXPECT_EQ(ask(driver_checks(), "hmm-init-failed", machine).answer, Answer::ok);
}

TEST(DriverState, PersistenceMattersOnServers) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[2].persistence.value = false;
  EXPECT_EQ(found(machine), Ids{"persistence-off"});
  EXPECT_EQ(first_command(machine, "persistence-off"),
            "sudo systemctl enable --now nvidia-persistenced");
  machine = healthy_desktop_4090();
  machine.nvml.gpus[0].persistence.value = false; // a display keeps the driver loaded
  EXPECT_EQ(fire(machine), Ids{});
  machine.nvml.gpus[0].processes.value->clear();
  EXPECT_EQ(ask(driver_checks(), "persistence-off", machine).severity, Severity::info);
  machine = container();
  machine.nvml.gpus[0].persistence.value = false;
  EXPECT_EQ(ask(driver_checks(), "persistence-off", machine).answer, Answer::not_applicable);
}

TEST(DriverState, PersistencedDoesNotRun) {
  Machine machine = healthy_h100();
  machine.services[0] = service("nvidia-persistenced.service", true, false);
  EXPECT_EQ(fire(machine), Ids{"persistenced-failed"});
  machine.services[0] = service("nvidia-persistenced.service", false, false);
  EXPECT_EQ(fire(machine), Ids{});
  machine.services[0].state = "failed";
  EXPECT_EQ(fire(machine), Ids{"persistenced-failed"});
}

TEST(DriverState, AProgramHangs) {
  Machine machine = healthy_h100();
  GpuProcess process;
  process.pid = 4711;
  process.name = "python3";
  process.state = "D (disk sleep)";
  process.wait = "os_acquire_rwlock_write";
  machine.processes.value->push_back(process);
  Outcome outcome = ask(driver_checks(), "program-hangs-in-driver", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_NE(outcome.missing, ""); // one look does not show that it lasts
  log_line(machine, "INFO: task python3:4711 blocked for more than 120 seconds.");
  EXPECT_EQ(ask(driver_checks(), "program-hangs-in-driver", machine).missing, "");
  EXPECT_EQ(found(machine), Ids{"program-hangs-in-driver"});
}

TEST(DriverState, LogPatternsMatchTheDriversWords) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"gpu-memory-region-taken", "NVRM: request_mem_region failed for 16M @ 0xf6000000. This can"},
      {"gpu-no-interrupt", "NVRM: Can't find an IRQ for your NVIDIA card!"},
      {"gpu-no-interrupt", "NVRM: Going over RM unhandled interrupt threshold for irq 44"},
      {"gpu-wired-interrupts", "NVRM: GPU 0000:01:00.0: Failed to enable MSI; falling back to PCIe "
                               "virtual-wire interrupts."},
      {"vf-needs-iommu", "NVRM: Aborting probe for VF 0000:01:00.4 since IOMMU is not present on "
                         "the system."},
      {"vgpu-guest-driver", "NVRM: The NVIDIA vGPU 0000:02:00.0 (PCI ID: 10de:2235)"},
      {"driver-init-failed", "NVRM: failed to initialize capabilities."},
      {"driver-crashed-in-kernel", "RIP: 0010:_nv012345rm+0x12/0x40 [nvidia]"},
      {"gpu-bar-resize-failed", "NVRM: FATAL: Failed to re-allocate BAR1."},
      {"persistence-mode-legacy", "NVRM: Persistence mode is deprecated and will be removed"}};
  for (const auto& [id, line] : lines) {
    Machine machine = healthy_desktop_4090();
    log_line(machine, line);
    auto diagnosis = diagnose(machine, facts(), {"driver"});
    ASSERT_TRUE(diagnosis);
    for (const CheckResult& check : diagnosis->checks)
      EXPECT_EQ(check.outcome.answer == Answer::fires, check.row->id == id)
          << check.row->id << " on " << line;
  }
}

} // namespace
} // namespace gpuvet
