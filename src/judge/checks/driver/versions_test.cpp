#include "judge/checks/driver/parts.hpp"
#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace testing;
using Ids = std::vector<std::string>;

// Unattended upgrade: libraries and module file are new, the loaded module is old.
Machine upgraded() {
  Machine machine = healthy_desktop_4090();
  machine.kernel.module_version = known<std::string>("580.65.05", "/sys/module/nvidia/version");
  find_module(machine, "nvidia")->version = "580.65.05";
  find_module(machine, "nvidia_uvm")->version = "580.65.05";
  machine.nvml = {};
  machine.cuda = {};
  machine.nvml.asked.state = machine.cuda.asked.state = AskState::failed;
  machine.nvml.asked.error = 18;
  machine.cuda.asked.error = 803;
  return machine;
}

Ids fire(const Machine& machine) {
  return firing(driver::version_checks(), machine);
}

TEST(DriverVersions, HealthyMachinesAreQuiet) {
  for (const Machine& machine : {healthy_h100(), healthy_desktop_4090(), container(), no_gpu()})
    EXPECT_EQ(fire(machine), Ids{});
}

TEST(DriverVersions, MismatchAfterAnUpgrade) {
  Machine machine = upgraded();
  log_line(machine, "NVRM: API mismatch: the client 'nvidia-smi' (pid 812)");
  EXPECT_EQ(found(machine), Ids{"driver-library-mismatch"});
  EXPECT_EQ(first_command(machine, "driver-library-mismatch"), "sudo reboot");
  machine.surroundings.container = known(ContainerKind::docker, "/.dockerenv");
  EXPECT_NE(first_command(machine, "driver-library-mismatch").find("container"), std::string::npos);
}

TEST(DriverVersions, UnknownStaysUnknown) {
  Machine machine = healthy_desktop_4090();
  machine.driver.user_version = unknown<std::string>("no libcuda.so.1 is found");
  EXPECT_EQ(ask(driver_checks(), "driver-library-mismatch", machine).answer, Answer::unknown);
  machine.surroundings.wsl = true;
  EXPECT_EQ(ask(driver_checks(), "driver-library-mismatch", machine).answer,
            Answer::not_applicable);
}

TEST(DriverVersions, ARebootDoesNotAlwaysHelp) {
  Machine machine = upgraded();
  for (ModuleFile& file : *machine.kernel.module_files.value)
    file.version = "580.65.05";
  EXPECT_EQ(found(machine), Ids{"driver-mismatch-survives-reboot"});
  // DKMS has the libraries' version: it only must be installed.
  EXPECT_EQ(first_command(machine, "driver-mismatch-survives-reboot"),
            "sudo dkms install --force nvidia/580.65.06 -k 6.8.0-45-generic && sudo reboot");
  machine.kernel.dkms.clear();
  EXPECT_NE(first_command(machine, "driver-mismatch-survives-reboot").find("full-upgrade"),
            std::string::npos);
  machine.kernel.module_files = unknown<std::vector<ModuleFile>>("/lib/modules: denied");
  EXPECT_EQ(ask(driver_checks(), "driver-mismatch-survives-reboot", machine).answer,
            Answer::unknown);
}

TEST(DriverVersions, TheNextBootMayBringTheMismatch) {
  Machine machine = healthy_desktop_4090();
  for (ModuleFile& file : *machine.kernel.module_files.value)
    file.version = "580.82.07";
  EXPECT_EQ(found(machine), Ids{"driver-reload-pending"});
}

TEST(DriverVersions, AStaleModuleFileWins) {
  Machine machine = upgraded();
  ModuleFile stale = machine.kernel.module_files.value->at(0);
  stale.path = "/lib/modules/6.8.0-45-generic/updates/nvidia.ko";
  stale.version = "580.65.05";
  machine.kernel.module_files.value->push_back(stale);
  EXPECT_EQ(found(machine), Ids{"module-files-differ"});
  EXPECT_EQ(ask(driver_checks(), "module-files-differ", machine).severity, Severity::blocker);
  EXPECT_EQ(first_command(machine, "module-files-differ"),
            "sudo rm /lib/modules/6.8.0-45-generic/updates/nvidia.ko && sudo depmod -a && sudo "
            "reboot");
}

TEST(DriverVersions, RunFileBesidePackages) {
  Machine machine = healthy_desktop_4090();
  machine.driver.nvidia_uninstall = true;
  Outcome outcome = ask(driver_checks(), "driver-installed-twice", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.severity, Severity::warning); // it works today
  EXPECT_EQ(first_command(machine, "driver-installed-twice"),
            "sudo /usr/bin/nvidia-uninstall && sudo reboot");
  machine = upgraded();
  machine.driver.libcuda.push_back(library_file("/usr/lib64/libcuda.so.570.86.10", "570.86.10"));
  EXPECT_EQ(found(machine), Ids{"driver-installed-twice"});
  machine.driver.libcuda[1].compat = true;
  EXPECT_EQ(ask(driver_checks(), "driver-installed-twice", machine).answer, Answer::ok);
}

TEST(DriverVersions, OneClientBringsItsOwnLibraries) {
  Machine machine = healthy_desktop_4090();
  log_line(machine, "NVRM: API mismatch: the client 'python3' (pid 4711)");
  log_line(machine, "NVRM: has the version 570.86.10, but this kernel module has");
  GpuProcess process;
  process.pid = 4711;
  process.libraries = {"/opt/conda/lib/libcuda.so.570.86.10"};
  machine.processes.value->push_back(process);
  EXPECT_EQ(found(machine), Ids{"driver-client-mismatch"});
  Outcome outcome = ask(driver_checks(), "driver-client-mismatch", machine);
  EXPECT_EQ(outcome.fields["client"], "python3 (pid 4711)");
  EXPECT_EQ(outcome.evidence.back(), "/proc/4711/maps: /opt/conda/lib/libcuda.so.570.86.10");
}

TEST(DriverVersions, PackagesOfTwoReleases) {
  Machine machine = healthy_desktop_4090();
  machine.packages.relevant.value->at(2).version = "580.82.07-0ubuntu1";
  EXPECT_EQ(found(machine), Ids{"driver-packages-differ"});
  machine.packages.relevant.value->at(2).version = "580.65.06-0ubuntu0.22.04.2"; // same release
  EXPECT_EQ(found(machine), Ids{});
}

TEST(DriverVersions, WhoHoldsTheModule) {
  Machine machine = upgraded();
  EXPECT_EQ(ask(driver_checks(), "module-held", machine).answer, Answer::ok);
  GpuProcess process;
  process.name = "Xorg";
  process.pid = 900;
  process.nodes = {"/dev/nvidia0"};
  machine.processes.value->push_back(process);
  EXPECT_EQ(ask(driver_checks(), "module-held", machine).fields["holders"], "Xorg");
  machine.processes = unknown<std::vector<GpuProcess>>("not looked at");
  EXPECT_EQ(ask(driver_checks(), "module-held", machine).answer, Answer::unknown);
}

} // namespace
} // namespace gpuvet
