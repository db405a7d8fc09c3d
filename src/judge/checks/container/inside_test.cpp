#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {
namespace {

Outcome ask_given(std::string_view id, const Machine& machine) {
  return ask(container_checks(), id, machine);
}
Outcome ask_image(std::string_view id, const Machine& machine) {
  return ask(container_image_checks(), id, machine);
}

void drop_node(Machine& machine, const std::string& path) {
  for (DeviceNode& one : machine.kernel.nodes)
    if (one.path == path) one.exists = false;
}

// A container without a node or library of the driver.
Machine without_gpu() {
  Machine machine = container();
  for (DeviceNode& one : machine.kernel.nodes)
    one.exists = false;
  machine.driver = {};
  machine.surroundings.nvidia_visible_devices.clear();
  return machine;
}

TEST(Container, NoneOfThemOutsideContainers) {
  for (const CheckList& list : {container_checks(), container_image_checks()})
    for (const CheckCode& check : list)
      if (check.id != "container-full-shm") {
        EXPECT_EQ(check.run(healthy_h100(), facts()).answer, Answer::not_applicable) << check.id;
      }
}

TEST(Container, HealthyOnesHaveAGpu) {
  for (const char* id : {"container-no-gpu-given", "container-visible-devices-void",
                         "container-without-compute", "container-without-utility",
                         "container-uvm-missing", "container-uvm-major", "container-cgroup-denied"})
    EXPECT_EQ(ask_given(id, container()).answer, Answer::ok) << id;
}

TEST(Container, StartedWithoutAGpu) {
  Machine machine = without_gpu();
  Outcome outcome = ask_given("container-no-gpu-given", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["driver"], "580.65.06");
  machine.surroundings.wsl = true;
  EXPECT_EQ(ask_given("container-no-gpu-given", machine).answer, Answer::not_applicable);
  machine = without_gpu();
  unload(machine, "nvidia");
  machine.kernel.module_version = unknown<std::string>("not loaded");
  EXPECT_EQ(ask_given("container-no-gpu-given", machine).answer, Answer::not_applicable);
  machine.kernel.nodes.clear();
  EXPECT_EQ(ask_given("container-no-gpu-given", machine).answer, Answer::unknown);
}

TEST(Container, KeptOutByAVariable) {
  Machine machine = without_gpu();
  EXPECT_EQ(ask_given("container-visible-devices-void", machine).answer, Answer::not_applicable);
  machine.environment["NVIDIA_VISIBLE_DEVICES"] = "void";
  machine.surroundings.nvidia_visible_devices = "void";
  EXPECT_EQ(ask_given("container-visible-devices-void", machine).fields["value"], "void");
  // With CDI the runtime sets "void" although devices are given.
  Machine given = container();
  given.surroundings.nvidia_visible_devices = "void";
  EXPECT_EQ(ask_given("container-visible-devices-void", given).answer, Answer::ok);
}

TEST(Container, SingularityWithoutNv) {
  Machine machine = container();
  EXPECT_EQ(ask_given("container-singularity-without-nv", machine).answer, Answer::not_applicable);
  machine.surroundings.container = known(ContainerKind::singularity, "/.singularity.d");
  EXPECT_EQ(ask_given("container-singularity-without-nv", machine).answer, Answer::ok);
  machine.driver = {};
  EXPECT_EQ(ask_given("container-singularity-without-nv", machine).answer, Answer::fires);
}

TEST(Container, CapabilitiesLeftOut) {
  Machine machine = container();
  machine.driver.libcuda.clear();
  machine.driver.resolved_libcuda.clear();
  EXPECT_EQ(ask_given("container-without-compute", machine).answer, Answer::not_applicable);
  machine.surroundings.nvidia_driver_capabilities = "utility";
  Outcome outcome = ask_given("container-without-compute", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["wanted"], "utility,compute");
  EXPECT_TRUE(outcome.missing.empty());
  machine.surroundings.nvidia_driver_capabilities.clear();
  EXPECT_FALSE(ask_given("container-without-compute", machine).missing.empty());

  machine = container();
  machine.driver.libnvidia_ml.clear();
  machine.driver.resolved_libnvidia_ml.clear();
  EXPECT_EQ(ask_given("container-without-utility", machine).answer, Answer::not_applicable);
  machine.surroundings.nvidia_driver_capabilities = "compute,video";
  EXPECT_EQ(ask_given("container-without-utility", machine).answer, Answer::fires);
  machine.surroundings.nvidia_driver_capabilities = "all";
  EXPECT_EQ(ask_given("container-without-utility", machine).answer, Answer::not_applicable);
}

TEST(Container, UvmNode) {
  Machine machine = container();
  node(machine, "/dev/nvidia-uvm").major = 507;
  Outcome outcome = ask_given("container-uvm-major", machine);
  EXPECT_EQ(outcome.fields["old"], "507");
  EXPECT_EQ(outcome.fields["major"], "511");
  drop_node(machine, "/dev/nvidia-uvm");
  EXPECT_EQ(ask_given("container-uvm-major", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_given("container-uvm-missing", machine).answer, Answer::fires);
  machine = container();
  machine.kernel.char_majors = unknown<std::map<std::string, uint32_t>>("/proc/devices: not there");
  EXPECT_EQ(ask_given("container-uvm-major", machine).answer, Answer::unknown);
}

TEST(Container, DeniedByTheControlGroup) {
  Machine machine = container();
  node(machine, "/dev/nvidiactl").open_error = 1;
  Outcome outcome = ask_given("container-cgroup-denied", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["node"], "/dev/nvidiactl");
  EXPECT_EQ(outcome.evidence[0], "open(/dev/nvidiactl): EPERM, mode 666");
  node(machine, "/dev/nvidiactl").open_error = 13;
  EXPECT_EQ(ask_given("container-cgroup-denied", machine).answer, Answer::ok);
}

TEST(Container, RefusedBySelinuxOrByMissingGroups) {
  Machine machine = container();
  EXPECT_EQ(ask_given("container-selinux", machine).answer, Answer::ok);
  EXPECT_EQ(ask_given("container-groups-lost", machine).answer, Answer::ok);
  node(machine, "/dev/nvidiactl").open_error = 13;
  EXPECT_EQ(ask_given("container-selinux", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_given("container-groups-lost", machine).answer, Answer::unknown);
  machine.kernel.selinux_enforcing = known(true, "/sys/fs/selinux/enforce");
  EXPECT_EQ(ask_given("container-selinux", machine).answer, Answer::fires);
  node(machine, "/dev/nvidiactl").mode = 0660;
  EXPECT_EQ(ask_given("container-selinux", machine).answer, Answer::not_applicable);
  machine.surroundings.user_namespace = known(true, "/proc/self/uid_map");
  EXPECT_EQ(ask_given("container-groups-lost", machine).answer, Answer::fires);
  machine.surroundings.user_namespace = known(false, "/proc/self/uid_map");
  EXPECT_EQ(ask_given("container-groups-lost", machine).answer, Answer::not_applicable);
}

TEST(ContainerImage, DriverLibraries) {
  Machine machine = container();
  EXPECT_EQ(ask_image("container-driver-in-image", machine).answer, Answer::ok);
  EXPECT_EQ(ask_image("container-old-libraries", machine).answer, Answer::ok);
  machine.driver.user_version = known<std::string>("570.86.15", "libcuda.so.1");
  EXPECT_EQ(ask_image("container-old-libraries", machine).fields["user"], "570.86.15");
  machine.packages.relevant.value->push_back({"libnvidia-compute-570", "570.86.15", "ii", "amd64"});
  EXPECT_EQ(ask_image("container-old-libraries", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_image("container-driver-in-image", machine).severity, Severity::blocker);
  machine.driver.user_version = known<std::string>("580.65.06", "libcuda.so.1");
  EXPECT_EQ(ask_image("container-driver-in-image", machine).severity, std::nullopt);
  machine.packages.relevant = unknown<std::vector<Package>>("no package database");
  EXPECT_EQ(ask_image("container-driver-in-image", machine).answer, Answer::unknown);
}

TEST(ContainerImage, EmptyDriverFiles) {
  Machine machine = container();
  machine.driver.libcuda[0].size = 1000;
  EXPECT_EQ(ask_image("container-leftover-driver-files", machine).answer, Answer::fires)
      << "the others are empty";
  machine.driver.libnvidia_ml[0].size = machine.driver.ptxjitcompiler[0].size = 1000;
  EXPECT_EQ(ask_image("container-leftover-driver-files", machine).answer, Answer::ok);
  machine.driver.libcuda.push_back(
      library_file("/usr/lib/x86_64-linux-gnu/libcuda.so.535.54.03", "535.54.03"));
  EXPECT_EQ(ask_image("container-leftover-driver-files", machine).fields["path"],
            "/usr/lib/x86_64-linux-gnu/libcuda.so.535.54.03");
}

TEST(ContainerImage, WhatItAsksOfTheDriver) {
  Machine machine = container();
  EXPECT_EQ(ask_image("container-requirement", machine).answer, Answer::not_applicable);
  machine.surroundings.nvidia_require_cuda =
      "cuda>=13.1 brand=tesla,driver>=535,driver<536 brand=tesla,driver>=580,driver<581";
  EXPECT_EQ(ask_image("container-requirement", machine).answer, Answer::unknown) << "brand";
  machine.nvml.gpus[0].brand = "Tesla";
  EXPECT_EQ(ask_image("container-requirement", machine).answer, Answer::ok);
  machine.nvml.gpus[0].brand = "GeForce RTX";
  Outcome outcome = ask_image("container-requirement", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["wanted"], "13.1");
  EXPECT_EQ(outcome.fields["cuda"], "13.0");
}

TEST(ContainerLimits, SharedMemory) {
  Machine machine = container();
  Outcome outcome = ask_image("container-small-shm", machine);
  EXPECT_EQ(outcome.severity, Severity::info) << "one GPU";
  EXPECT_EQ(outcome.fields["size"], "64 MiB");
  machine.nvml.count = 4U;
  EXPECT_EQ(ask_image("container-small-shm", machine).severity, std::nullopt);
  machine.surroundings.shm_bytes = known<uint64_t>(8ULL << 30U, "/dev/shm");
  EXPECT_EQ(ask_image("container-small-shm", machine).answer, Answer::ok);
  EXPECT_EQ(ask_image("container-full-shm", machine).answer, Answer::unknown);
  machine.surroundings.shm_free_bytes = known<uint64_t>(7ULL << 30U, "/dev/shm");
  EXPECT_EQ(ask_image("container-full-shm", machine).answer, Answer::ok);
  machine.surroundings.shm_free_bytes = known<uint64_t>(1ULL << 20U, "/dev/shm");
  machine.surroundings.shm_nccl_files = 12U;
  EXPECT_EQ(ask_image("container-full-shm", machine).evidence.at(1), "/dev/shm/nccl-*: 12 files");
  machine.surroundings.shm_bytes = unknown<uint64_t>("not there");
  EXPECT_EQ(ask_image("container-small-shm", machine).answer, Answer::unknown);
}

TEST(ContainerLimits, KilledForLackOfMemory) {
  Machine machine = container();
  EXPECT_EQ(ask_image("container-oom-kills", machine).answer, Answer::unknown);
  machine.surroundings.oom_kills = 0U;
  EXPECT_EQ(ask_image("container-oom-kills", machine).answer, Answer::ok);
  machine.surroundings.oom_kills = 2U;
  machine.surroundings.memory_max_bytes = 16'000'000'000U;
  EXPECT_EQ(ask_image("container-oom-kills", machine).fields["limit"], "16.0 GB");
}

TEST(ContainerKinds, GvisorPidsMig) {
  Machine machine = container();
  EXPECT_EQ(ask_image("container-gvisor", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_image("container-pid-namespace", machine).answer, Answer::unknown);
  EXPECT_EQ(ask_image("container-mig-nodes", machine).answer, Answer::not_applicable);
  machine.surroundings.own_pid_namespace = known(true, "/proc/self/status");
  EXPECT_EQ(ask_image("container-pid-namespace", machine).answer, Answer::fires);
  machine.surroundings.own_pid_namespace = known(false, "/proc/self/status");
  EXPECT_EQ(ask_image("container-pid-namespace", machine).answer, Answer::ok);
  machine.surroundings.nvidia_visible_devices = "MIG-1234";
  EXPECT_EQ(ask_image("container-mig-nodes", machine).answer, Answer::fires);
  machine.kernel.nodes.push_back(device_node("/dev/nvidia-caps/nvidia-cap12", 241, 12));
  EXPECT_EQ(ask_image("container-mig-nodes", machine).answer, Answer::ok);
  machine.surroundings.container = known(ContainerKind::gvisor, "/proc/version");
  EXPECT_EQ(ask_image("container-gvisor", machine).answer, Answer::fires);
}

} // namespace
} // namespace gpuvet::testing
