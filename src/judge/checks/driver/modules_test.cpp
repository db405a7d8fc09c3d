#include "judge/checks/driver/parts.hpp"
#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace testing;
using Ids = std::vector<std::string>;

Machine not_loaded() {
  Machine machine = healthy_desktop_4090();
  without_module(machine);
  return machine;
}

void drop_files(Machine& machine) {
  machine.kernel.module_files.value->clear();
}

Ids of_group(const Machine& machine) {
  return firing(driver::module_checks(), machine);
}

TEST(ModuleNotLoaded, NothingFiresWhereTheModuleIsLoaded) {
  EXPECT_EQ(of_group(healthy_h100()), Ids{});
  EXPECT_EQ(of_group(healthy_desktop_4090()), Ids{});
  EXPECT_EQ(of_group(container()), Ids{});
  EXPECT_EQ(of_group(no_gpu()), Ids{});
  EXPECT_EQ(ask(driver_checks(), "module-not-loaded", healthy_h100()).answer, Answer::ok);
  EXPECT_EQ(ask(driver_checks(), "module-not-loaded", no_gpu()).answer, Answer::not_applicable);
  EXPECT_EQ(ask(driver_checks(), "module-not-loaded", container()).answer, Answer::not_applicable);
}

TEST(ModuleNotLoaded, PlainIsTheLastResort) {
  Machine machine = not_loaded();
  EXPECT_EQ(of_group(machine), Ids{"module-not-loaded"});
  EXPECT_EQ(found(machine), Ids{"module-not-loaded"});
  EXPECT_EQ(first_command(machine, "module-not-loaded"),
            "sudo modprobe nvidia && sudo modprobe nvidia_uvm");
  machine.kernel.log.lines = unknown<std::vector<LogLine>>("permission denied");
  EXPECT_NE(ask(driver_checks(), "module-not-loaded", machine).evidence.back().find("denied"),
            std::string::npos);
}

TEST(ModuleNotLoaded, AnotherDriverHoldsTheGpu) {
  Machine machine = not_loaded();
  machine.kernel.functions.value->at(0).driver = "nouveau";
  EXPECT_EQ(of_group(machine), Ids{"nouveau-bound"});
  EXPECT_NE(first_command(machine, "nouveau-bound").find("update-initramfs"), std::string::npos);
  machine.distribution.packages = PackageSystem::dnf;
  EXPECT_NE(first_command(machine, "nouveau-bound").find("dracut"), std::string::npos);
  machine.kernel.functions.value->at(0).driver = "NovaCore";
  EXPECT_EQ(of_group(machine), Ids{"module-not-loaded"}); // not its name in sysfs
  machine.kernel.functions.value->at(0).driver = "nova_core";
  EXPECT_EQ(of_group(machine), Ids{"nova-core-bound"});
}

TEST(ModuleNotLoaded, NothingIsInstalled) {
  Machine machine = not_loaded();
  drop_files(machine);
  machine.kernel.dkms.clear();
  machine.packages.relevant = known<std::vector<Package>>({}, "/var/lib/dpkg/status");
  machine.driver = {};
  machine.kernel.functions.value->at(0).driver = "nouveau"; // normal then
  EXPECT_EQ(of_group(machine), Ids{"driver-not-installed"});
  EXPECT_EQ(ask(driver_checks(), "driver-not-installed", machine).fields["gpu"],
            "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(first_command(machine, "driver-not-installed"),
            "sudo ubuntu-drivers install && sudo reboot");
  machine.distribution.id = known<std::string>("rocky", "/etc/os-release");
  machine.distribution.packages = PackageSystem::dnf;
  EXPECT_EQ(first_command(machine, "driver-not-installed"),
            "sudo dnf install nvidia-open && sudo reboot");
  machine.kernel.functions.value->at(0).id = "10de:1b06"; // GTX 1080 Ti: no open module
  EXPECT_EQ(first_command(machine, "driver-not-installed").find("nvidia-open"), std::string::npos);
  machine.packages.relevant = unknown<std::vector<Package>>("cannot be read");
  EXPECT_EQ(ask(driver_checks(), "driver-not-installed", machine).answer, Answer::unknown);
}

TEST(ModuleNotLoaded, NoModuleForThisKernel) {
  Machine machine = not_loaded();
  drop_files(machine);
  machine.kernel.dkms.clear();
  machine.kernel.other_kernels_with_module = {"6.8.0-40-generic"};
  EXPECT_EQ(of_group(machine), Ids{"module-missing-for-kernel"});
  EXPECT_EQ(first_command(machine, "module-missing-for-kernel"),
            "sudo apt install linux-modules-nvidia-580-6.8.0-45-generic && sudo modprobe nvidia");
  EXPECT_EQ(ask(driver_checks(), "module-missing-for-kernel", machine).fields["others"],
            "there is one for 6.8.0-40-generic");
  machine.kernel.module_files = unknown<std::vector<ModuleFile>>("/lib/modules: not there");
  EXPECT_EQ(of_group(machine), Ids{});
  EXPECT_EQ(ask(driver_checks(), "module-missing-for-kernel", machine).answer, Answer::unknown);
}

TEST(ModuleNotLoaded, DkmsDidNotBuild) {
  Machine machine = not_loaded();
  drop_files(machine);
  machine.kernel.dkms = {{"nvidia", "580.65.06", "6.8.0-40-generic", "installed", {}, {}}};
  EXPECT_EQ(of_group(machine), Ids{"module-not-built"});
  EXPECT_EQ(first_command(machine, "module-not-built"),
            "sudo dkms autoinstall -k 6.8.0-45-generic && sudo modprobe nvidia");
  machine.kernel.headers = known(false, "/lib/modules/6.8.0-45-generic/build is not there");
  EXPECT_EQ(of_group(machine), Ids{"kernel-headers-missing"});
  EXPECT_EQ(first_command(machine, "kernel-headers-missing"),
            "sudo apt install linux-headers-6.8.0-45-generic && sudo dkms autoinstall -k "
            "6.8.0-45-generic && sudo modprobe nvidia");
}

TEST(ModuleNotLoaded, DkmsBuildFailed) {
  Machine machine = not_loaded();
  drop_files(machine);
  DkmsEntry& entry = machine.kernel.dkms[0];
  entry.state = "added";
  entry.log = "/var/lib/dkms/nvidia/580.65.06/build/make.log";
  entry.error = "nv-vm.c:24:5: error: implicit declaration of function 'set_memory_uc'";
  machine.packages.relevant.value->at(1).status = "iF"; // its script failed for the same reason
  EXPECT_EQ(of_group(machine), (Ids{"dkms-build-failed", "driver-packages-half-configured"}));
  EXPECT_EQ(found(machine), Ids{"dkms-build-failed"});
  EXPECT_EQ(ask(driver_checks(), "dkms-build-failed", machine).evidence[0],
            entry.log + ": " + entry.error);
  entry.error = "gcc: error: unrecognized command-line option '-ftrivial-auto-var-init=zero'";
  EXPECT_EQ(found(machine), Ids{"dkms-compiler-differs"});
  machine.kernel.headers = known(false, "no headers");
  EXPECT_EQ(found(machine), Ids{"kernel-headers-missing"});
}

TEST(ModuleNotLoaded, SecureBootRefuses) {
  Machine machine = not_loaded();
  machine.kernel.secure_boot = known(true, "/sys/firmware/efi/efivars/SecureBoot");
  ModuleFile& file = machine.kernel.module_files.value->at(0);
  file.is_signed = false;
  file.signer.clear();
  EXPECT_EQ(of_group(machine), Ids{"module-unsigned"});
  file.is_signed = true;
  file.signer = "DKMS module signing key";
  EXPECT_EQ(of_group(machine), Ids{"module-key-not-enrolled"});
  EXPECT_NE(ask(driver_checks(), "module-key-not-enrolled", machine).missing, "");
  log_line(machine, "Loading of module with unavailable key is rejected");
  EXPECT_EQ(ask(driver_checks(), "module-key-not-enrolled", machine).missing, "");
  // Nouveau would be a consequence of nothing: it took the card first.
  machine.kernel.functions.value->at(0).driver = "nouveau";
  EXPECT_EQ(of_group(machine), Ids{"nouveau-bound"});
}

TEST(ModuleNotLoaded, ForbiddenOrUnfit) {
  Machine machine = not_loaded();
  machine.kernel.modprobe_lines = {"/etc/modprobe.d/blacklist-nvidia.conf:1: blacklist nvidiafb",
                                   "/lib/modprobe.d/blacklist-nvidia.conf:1: blacklist nvidia"};
  EXPECT_EQ(of_group(machine), Ids{"nvidia-blacklisted"});
  machine.kernel.modprobe_lines.pop_back();
  EXPECT_EQ(of_group(machine), Ids{"module-not-loaded"});
  machine.kernel.command_line =
      known<std::string>("root=/dev/sda1 modprobe.blacklist=nouveau,nvidia", "/proc/cmdline");
  EXPECT_EQ(of_group(machine), Ids{"nvidia-blacklisted"});
  log_line(machine, "nvidia: disagrees about version of symbol module_layout");
  EXPECT_EQ(of_group(machine), Ids{"module-does-not-fit-kernel"});
}

TEST(ModuleNotLoaded, TheHostOfAContainerIsToBlame) {
  Machine machine = container();
  without_module(machine);
  EXPECT_EQ(of_group(machine), Ids{"host-module-not-loaded"});
  EXPECT_EQ(found(machine, {"driver", "devices"}), Ids{"host-module-not-loaded"});
  machine.kernel.functions.value->clear();
  EXPECT_EQ(of_group(machine), Ids{});
}

TEST(ModuleNotLoaded, GpusOfVirtualMachinesNeedNoModule) {
  Machine machine = not_loaded();
  machine.kernel.functions.value->at(0).driver = "vfio-pci";
  EXPECT_EQ(of_group(machine), Ids{});
  EXPECT_EQ(ask(driver_checks(), "gpu-for-virtual-machines", machine).answer, Answer::fires);
}

TEST(DriverPackages, HalfConfigured) {
  Machine machine = healthy_desktop_4090();
  EXPECT_EQ(ask(driver_checks(), "driver-packages-half-configured", machine).answer, Answer::ok);
  machine.packages.relevant.value->at(2).status = "iU";
  machine.packages.relevant.value->at(0).status = "rc";
  Outcome outcome = ask(driver_checks(), "driver-packages-half-configured", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["packages"], "libnvidia-compute-580");
  machine.distribution.packages = PackageSystem::dnf;
  EXPECT_EQ(ask(driver_checks(), "driver-packages-half-configured", machine).answer,
            Answer::not_applicable);
}

TEST(Headers, MissingIsNoFaultWhileTheModuleWorks) {
  Machine machine = healthy_desktop_4090();
  machine.kernel.headers = known(false, "/lib/modules/6.8.0-45-generic/build is not there");
  EXPECT_EQ(of_group(machine), Ids{"headers-missing-for-next-build"});
  EXPECT_EQ(found(machine), Ids{});
  machine.kernel.dkms.clear();
  EXPECT_EQ(of_group(machine), Ids{});
}

} // namespace
} // namespace gpuvet
