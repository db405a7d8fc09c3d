#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using namespace testing;
using Ids = std::vector<std::string>;

Ids fire(const Machine& machine) {
  return firing(device_checks(), machine);
}

Machine with_minors(Machine machine) {
  uint32_t minor = 0;
  for (auto& [address, information] : machine.kernel.proc_gpu_information)
    information["Device Minor"] = std::to_string(minor++);
  return machine;
}

TEST(Devices, HealthyMachinesAreQuiet) {
  for (const Machine& machine :
       {with_minors(healthy_h100()), healthy_desktop_4090(), container(), no_gpu()})
    EXPECT_EQ(fire(machine), Ids{});
}

TEST(Devices, NotJudgedWithoutModuleOrDev) {
  Machine machine = healthy_desktop_4090();
  without_module(machine);
  EXPECT_EQ(fire(machine), Ids{});
  EXPECT_EQ(ask(device_checks(), "device-nodes-missing", machine).answer, Answer::not_applicable);
  machine = healthy_desktop_4090();
  machine.kernel.nodes.clear();
  EXPECT_EQ(ask(device_checks(), "device-nodes-missing", machine).answer, Answer::unknown);
  machine.surroundings.wsl = true;
  EXPECT_EQ(ask(device_checks(), "device-nodes-missing", machine).answer, Answer::not_applicable);
}

TEST(Devices, ControlNodeIsMissing) {
  Machine machine = healthy_desktop_4090();
  for (DeviceNode& node : machine.kernel.nodes)
    node = absent_node(node.path);
  EXPECT_EQ(fire(machine), Ids{"device-nodes-missing"});
  EXPECT_EQ(first_command(machine, "device-nodes-missing"), "sudo nvidia-modprobe -c 0 -u");
  machine.surroundings.container = known(ContainerKind::docker, "/.dockerenv");
  EXPECT_NE(first_command(machine, "device-nodes-missing").find("--gpus"), std::string::npos);
}

TEST(Devices, OneGpuHasNoNode) {
  Machine machine = with_minors(healthy_h100());
  node(machine, "/dev/nvidia5") = absent_node("/dev/nvidia5");
  EXPECT_EQ(fire(machine), Ids{"gpu-node-missing"});
  EXPECT_EQ(ask(device_checks(), "gpu-node-missing", machine).fields["nodes"], "/dev/nvidia5");
  machine.surroundings.container = known(ContainerKind::docker, "/.dockerenv");
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(Devices, UvmNodeIsMissing) {
  Machine machine = container();
  node(machine, "/dev/nvidia-uvm") = absent_node("/dev/nvidia-uvm");
  EXPECT_EQ(fire(machine), Ids{"uvm-node-missing"});
  machine.surroundings.nvidia_visible_devices = "void";
  EXPECT_EQ(fire(machine), Ids{});
  unload(machine, "nvidia_uvm"); // then that is the cause
  machine.surroundings.nvidia_visible_devices = "all";
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(Devices, MajorOfAnEarlierBoot) {
  Machine machine = container();
  node(machine, "/dev/nvidia-uvm").major = 234;
  EXPECT_EQ(fire(machine), Ids{"device-node-major-stale"});
  Outcome outcome = ask(device_checks(), "device-node-major-stale", machine);
  EXPECT_EQ(outcome.fields["old"], "234");
  EXPECT_EQ(outcome.fields["major"], "511");
  machine.surroundings.container = known(ContainerKind::none, "/proc/1/cgroup");
  EXPECT_EQ(first_command(machine, "device-node-major-stale"),
            "sudo rm /dev/nvidia-uvm && sudo mknod -m 666 /dev/nvidia-uvm c 511 0");
  machine.kernel.char_majors = unknown<std::map<std::string, uint32_t>>("/proc/devices: hidden");
  EXPECT_EQ(ask(device_checks(), "device-node-major-stale", machine).answer, Answer::unknown);
}

TEST(Devices, CapsNodesHaveTheirOwnMajor) {
  Machine machine = healthy_h100();
  (*machine.kernel.char_majors.value)["nvidia-caps"] = 508;
  machine.kernel.nodes.push_back(device_node("/dev/nvidia-caps/nvidia-cap1", 508, 1));
  EXPECT_EQ(fire(machine), Ids{});
  node(machine, "/dev/nvidia-caps/nvidia-cap1").major = 237;
  EXPECT_EQ(fire(machine), Ids{"device-node-major-stale"});
}

TEST(Devices, AFileInPlaceOfANode) {
  Machine machine = healthy_desktop_4090();
  node(machine, "/dev/nvidia0").character = false;
  EXPECT_EQ(fire(machine), Ids{"device-node-is-a-file"});
}

TEST(Devices, OnlyTheGroupMayOpen) {
  Machine machine = healthy_desktop_4090();
  DeviceNode& control = node(machine, "/dev/nvidiactl");
  control.mode = 0660;
  control.gid = 44;
  control.open_error = 13;
  EXPECT_EQ(fire(machine), Ids{"device-node-permission"});
  EXPECT_EQ(first_command(machine, "device-node-permission"), "sudo usermod -aG 44 $USER");
  control.mode = 0600; // no group would help
  EXPECT_EQ(first_command(machine, "device-node-permission").find("usermod"), std::string::npos);
  for (DeviceNode& node : machine.kernel.nodes)
    node.open_error.reset();
  EXPECT_EQ(ask(device_checks(), "device-node-permission", machine).answer, Answer::unknown);
}

TEST(Devices, TheCgroupDenies) {
  Machine machine = healthy_desktop_4090();
  node(machine, "/dev/nvidia-uvm").open_error = 1;
  EXPECT_EQ(fire(machine), Ids{"device-denied-by-cgroup"});
  machine.surroundings.container = known(ContainerKind::docker, "/.dockerenv");
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(Devices, UnitsThatKeepGpusAway) {
  Machine machine = healthy_desktop_4090();
  ServiceUnit unit = service("ollama.service", true, true);
  unit.settings = {{"PrivateDevices", "yes"}};
  machine.services.push_back(unit);
  EXPECT_EQ(fire(machine), Ids{"unit-denies-devices"});
  machine.services.back().settings["DeviceAllow"] = "char-nvidia rw";
  EXPECT_EQ(fire(machine), Ids{});
  machine.services.back().settings["DeviceAllow"] = "char-nvidia-frontend rw";
  EXPECT_EQ(fire(machine), Ids{"unit-names-old-device"});
  (*machine.kernel.char_majors.value)["nvidia-frontend"] = 195; // an old driver
  EXPECT_EQ(fire(machine), Ids{});
}

TEST(Devices, NodeOfAGpuThatLeft) {
  Machine machine = with_minors(healthy_desktop_4090());
  machine.kernel.nodes.push_back(device_node("/dev/nvidia3", 195, 3));
  EXPECT_EQ(fire(machine), Ids{"device-node-without-gpu"});
  EXPECT_EQ(first_command(machine, "device-node-without-gpu"), "sudo rm /dev/nvidia3");
}

TEST(Devices, MigInstancesNeedTheirNodes) {
  Machine machine = healthy_h100();
  machine.kernel.capabilities = {{"gpu0/mig/gi1/access", 12U}, {"mig/monitor", 2U}};
  EXPECT_EQ(fire(machine), Ids{});
  machine.nvml.gpus[0].mig.value = true;
  EXPECT_EQ(fire(machine), Ids{"mig-node-missing"});
  machine.kernel.nodes.push_back(device_node("/dev/nvidia-caps/nvidia-cap12", 508, 12));
  EXPECT_EQ(fire(machine), Ids{});
  machine.kernel.nodes.back().open_error = 13;
  EXPECT_EQ(fire(machine), Ids{"mig-node-missing"});
}

TEST(Devices, JobsShouldSeeTheirOwnGpusOnly) {
  Machine machine = healthy_h100();
  machine.surroundings.slurm_job = {{"SLURM_JOB_ID", "7"}};
  EXPECT_EQ(ask(device_checks(), "gpus-not-isolated", machine).answer, Answer::unknown);
  machine.surroundings.slurm_job["SLURM_JOB_GPUS"] = "2,3";
  Outcome outcome = ask(device_checks(), "gpus-not-isolated", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["open"], "8 GPUs");
  EXPECT_EQ(outcome.fields["given"], "2 GPUs");
}

TEST(Devices, MinorsNeedNotFollowTheIndex) {
  Machine machine = healthy_h100();
  machine.nvml.gpus[0].minor.value = 4U;
  EXPECT_EQ(fire(machine), Ids{"device-minors-differ"});
  machine.nvml.asked.state = AskState::failed;
  EXPECT_EQ(ask(device_checks(), "device-minors-differ", machine).answer, Answer::unknown);
}

} // namespace
} // namespace gpuvet
