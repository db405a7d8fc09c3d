#include "probe/testing/recorded_machine.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::RecordedMachine;
using Names = std::vector<std::string>;

Surroundings around(const RecordedMachine& machine) {
  return machine.probed(probe_place).surroundings;
}

RecordedMachine running() {
  RecordedMachine machine;
  machine.text("/proc/version", "Linux version 6.8.0-45-generic (x@y) (gcc 13.2.0) #45\n");
  machine.text("/proc/self/mountinfo", "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n");
  machine.text("/proc/1/comm", "systemd\n");
  return machine;
}

const std::string kLayered =
    "22 1 0:40 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l\n";

TEST(PlaceDistribution, ReadsOsReleaseAndThePackageDatabase) {
  RecordedMachine machine;
  machine.text("/etc/os-release", "PRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\nID=ubuntu\nID_LIKE=debian\n"
                                  "VERSION_ID=\"22.04\"\n");
  machine.present("/var/lib/dpkg/status");
  Distribution ubuntu = machine.probed(probe_place).distribution;
  EXPECT_EQ(*ubuntu.id, "ubuntu");
  EXPECT_EQ(ubuntu.like, Names{"debian"});
  EXPECT_EQ(ubuntu.version, "22.04");
  EXPECT_EQ(ubuntu.name, "Ubuntu 22.04.5 LTS");
  EXPECT_EQ(ubuntu.packages, PackageSystem::apt);
  EXPECT_FALSE(RecordedMachine().probed(probe_place).distribution.id);
}

TEST(PlaceContainer, AMachineIsInNone) {
  EXPECT_EQ(*around(running()).container, ContainerKind::none);
}

TEST(PlaceContainer, AnImageAsFilesDoesNotTell) {
  RecordedMachine machine;
  machine.text("/.dockerenv", "");
  EXPECT_FALSE(around(machine).container);
}

TEST(PlaceContainer, DockerenvOnAPlainDiskIsALeftOver) {
  RecordedMachine machine = running();
  machine.text("/.dockerenv", "");
  machine.recording->environment["container"] = "docker"; // of the image
  EXPECT_EQ(*around(machine).container, ContainerKind::none);
  machine.text("/proc/self/mountinfo", kLayered);
  EXPECT_EQ(*around(machine).container, ContainerKind::docker);
  machine.text("/proc/version", "Linux version 5.15.167.4-microsoft-standard-WSL2 (x) #1");
  EXPECT_EQ(*around(machine).container, ContainerKind::wsl_docker);
}

TEST(PlaceContainer, PodsGoBeforeTheirRuntime) {
  RecordedMachine machine = running();
  machine.text("/.dockerenv", "").text("/proc/self/mountinfo", kLayered);
  machine.recording->environment["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  EXPECT_EQ(*around(machine).container, ContainerKind::kubernetes);
}

TEST(PlaceContainer, EachKindHasItsSign) {
  RecordedMachine podman = running();
  podman.text("/run/.containerenv", "");
  EXPECT_EQ(*around(podman).container, ContainerKind::podman);
  RecordedMachine apptainer = running();
  apptainer.recording->environment["APPTAINER_CONTAINER"] = "/x.sif";
  EXPECT_EQ(*around(apptainer).container, ContainerKind::singularity);
  RecordedMachine lxc = running();
  lxc.text("/run/systemd/container", "lxc");
  EXPECT_EQ(*around(lxc).container, ContainerKind::lxc);
  RecordedMachine gvisor = running();
  gvisor.text("/proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n");
  EXPECT_EQ(*around(gvisor).container, ContainerKind::gvisor);
  RecordedMachine cgroup = running();
  cgroup.text("/proc/self/cgroup", "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-2\n");
  EXPECT_EQ(*around(cgroup).container, ContainerKind::kubernetes);
  RecordedMachine other = running();
  other.text("/proc/self/mountinfo", kLayered).text("/proc/1/comm", "python3\n");
  EXPECT_EQ(*around(other).container, ContainerKind::other);
}

TEST(PlaceMachine, WslIsToldFromItsFirstVersion) {
  RecordedMachine machine = running();
  SystemFacts system;
  system.kernel_release = known(std::string("5.15.167.4-microsoft-standard-WSL2"), "test");
  machine.recording->system = system;
  machine.node("/dev/dxg", 10, 125);
  machine.present("/usr/lib/wsl/lib/libcuda.so.1");
  Surroundings second = around(machine);
  EXPECT_TRUE(second.wsl);
  EXPECT_FALSE(second.wsl1);
  EXPECT_EQ(second.dxg_node, true);
  EXPECT_EQ(around(running()).dxg_node, false);
  EXPECT_EQ(second.wsl_libraries, Names{"libcuda.so.1"});
  EXPECT_EQ(*second.hypervisor, "Hyper-V");
  system.kernel_release = known(std::string("4.4.0-19041-Microsoft"), "test");
  machine.recording->system = system;
  EXPECT_FALSE(around(machine).wsl);
  EXPECT_TRUE(around(machine).wsl1);
}

TEST(PlaceMachine, CloudsAndHypervisorsByDmi) {
  const std::string dmi = "/sys/class/dmi/id/";
  RecordedMachine aws = running();
  aws.text(dmi + "sys_vendor", "Amazon EC2\n").text(dmi + "product_name", "p4d.24xlarge\n");
  EXPECT_EQ(*around(aws).cloud, "aws");
  EXPECT_EQ(around(aws).instance_type, "p4d.24xlarge");
  EXPECT_EQ(*around(aws).hypervisor, "KVM");
  aws.text(dmi + "product_name", "g4dn.metal\n");
  EXPECT_EQ(*around(aws).hypervisor, "none");
  RecordedMachine azure = running();
  azure.text(dmi + "sys_vendor", "Microsoft Corporation");
  azure.text(dmi + "product_name", "Virtual Machine");
  azure.text(dmi + "chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77");
  EXPECT_EQ(*around(azure).cloud, "azure");
  EXPECT_EQ(*around(azure).hypervisor, "Hyper-V");
  RecordedMachine metal = running();
  metal.text(dmi + "sys_vendor", "Supermicro").text(dmi + "product_name", "SYS-821GE");
  EXPECT_EQ(*around(metal).cloud, "none");
  EXPECT_EQ(*around(metal).hypervisor, "none");
  EXPECT_FALSE(around(running()).cloud);
  EXPECT_FALSE(around(running()).hypervisor);
}

TEST(PlaceMachine, GuestsWithoutDmiHaveTheirClock) {
  RecordedMachine machine = running();
  machine.text("/sys/devices/system/clocksource/clocksource0/available_clocksource",
               "kvm-clock tsc \n");
  machine.text("/run/cloud-init/cloud-id", "gce\n");
  EXPECT_EQ(*around(machine).hypervisor, "KVM");
  EXPECT_EQ(*around(machine).cloud, "gcp");
}

TEST(PlaceMachine, AnEc2InstanceHasItsIdOnTheBoard) {
  RecordedMachine machine = running();
  const std::string board = "/sys/class/dmi/id/board_asset_tag";
  machine.text(board, "i-0af01c0123456789a\n");
  EXPECT_EQ(*around(machine).cloud, "aws");
  for (const char* other : {"i-7", "i-0af01c012345678xa", "Not Specified"}) {
    machine.text(board, other);
    EXPECT_FALSE(around(machine).cloud) << other;
  }
}

// A pod whose firmware tables are hidden still sees the machine's PCI devices.
TEST(PlaceMachine, CloudsByTheirDevices) {
  struct Case {
    const char *vendor, *device, *cloud; // null: none
  };
  for (const Case& c : {Case{"0x1d0f", "0xec20", "aws"}, Case{"0x1d0f", "0xefa1", "aws"},
                        Case{"0x1ae0", "0x0042", "gcp"}, Case{"0x1ae0", "0x0056", nullptr},
                        Case{"0x1414", "0x00ba", "azure"}, Case{"0x1414", "0x5353", nullptr},
                        Case{"0x1ded", "0x107f", "alibaba"}, Case{"0x8086", "0x0042", nullptr}}) {
    RecordedMachine machine = running();
    const std::string base = "/sys/bus/pci/devices/";
    machine.text(base + "0000:00:01.0/vendor", "0x8086\n");
    machine.text(base + "0000:00:05.0/vendor", std::string(c.vendor) + "\n");
    machine.text(base + "0000:00:05.0/device", std::string(c.device) + "\n");
    const Observed<std::string> cloud = around(machine).cloud;
    EXPECT_EQ(cloud ? *cloud : "", c.cloud ? c.cloud : "") << c.vendor << " " << c.device;
    // Firmware that names the machine is believed.
    machine.text("/sys/class/dmi/id/sys_vendor", "Supermicro\n");
    EXPECT_EQ(*around(machine).cloud, "none");
  }
}

TEST(PlaceMachine, JetsonByItsRelease) {
  RecordedMachine machine = running();
  machine.text("/etc/nv_tegra_release",
               "# R36 (release), REVISION: 4.0, GCID: 37537400, BOARD: generic\n");
  EXPECT_TRUE(around(machine).jetson);
  EXPECT_EQ(around(machine).jetson_release, "R36 (release), REVISION: 4.0");
  RecordedMachine tree = running();
  tree.binary("/proc/device-tree/compatible", std::string("nvidia,p3737\0nvidia,tegra234\0", 27));
  EXPECT_TRUE(around(tree).jetson);
  EXPECT_FALSE(around(running()).jetson);
}

TEST(PlaceLimits, SharedMemoryCgroupAndNamespaces) {
  RecordedMachine machine = running();
  machine.recording->spaces["/dev/shm"] = {.total = 64 << 20, .free = 60 << 20};
  machine.recording->spaces["/sys/fs/cgroup"] = {.read_only = true};
  machine.present("/dev/shm/nccl-abc").present("/dev/shm/other");
  machine.text("/proc/self/cgroup", "0::/job\n");
  machine.text("/sys/fs/cgroup/job/pids.max", "max\n");
  machine.text("/sys/fs/cgroup/job/memory.max", "1073741824\n");
  machine.text("/sys/fs/cgroup/job/memory.events", "low 0\noom 3\noom_kill 2\n");
  machine.link("/proc/self/ns/pid", "pid:[4026531836]");
  machine.link("/proc/self/ns/user", "user:[4026532177]");
  Surroundings seen = around(machine);
  EXPECT_EQ(*seen.shm_bytes, 64u << 20);
  EXPECT_EQ(*seen.shm_free_bytes, 60u << 20);
  EXPECT_EQ(seen.shm_nccl_files, 1u);
  EXPECT_EQ(seen.cgroup_read_only, true);
  EXPECT_EQ(seen.pids_max, UINT64_MAX);
  EXPECT_EQ(seen.memory_max_bytes, 1u << 30);
  EXPECT_EQ(seen.oom_kills, 2u);
  EXPECT_EQ(*seen.own_pid_namespace, false);
  EXPECT_EQ(*seen.user_namespace, true);
}

TEST(PlaceCluster, SlurmFilesAndJob) {
  RecordedMachine machine = running();
  machine.text("/etc/slurm/slurm.conf", "ClusterName=x\nGresTypes=gpu\nprolog=/etc/p.sh # check\n");
  machine.text("/etc/slurm/cgroup.conf", "ConstrainDevices=yes\n");
  machine.text("/etc/slurm/gres.conf", "# none\nNodeName=n1 Name=gpu Count=8\n");
  machine.recording->environment = {{"SLURM_JOB_ID", "7"}, {"PATH", "/bin"}};
  machine.present("/var/lib/kubelet/config.yaml");
  Surroundings seen = around(machine);
  EXPECT_TRUE(seen.slurm_node);
  EXPECT_TRUE(seen.kubernetes_node);
  EXPECT_EQ(seen.slurm_job, (std::map<std::string, std::string>{{"SLURM_JOB_ID", "7"}}));
  EXPECT_EQ(seen.slurm_settings,
            (std::map<std::string, std::string>{{"cgroup.conf:ConstrainDevices", "yes"},
                                                {"slurm.conf:GresTypes", "gpu"},
                                                {"slurm.conf:Prolog", "/etc/p.sh"}}));
  EXPECT_EQ(seen.gres_lines, Names{"/etc/slurm/gres.conf:2: NodeName=n1 Name=gpu Count=8"});
}

TEST(PlaceCluster, MultiProcessService) {
  RecordedMachine machine = running();
  EXPECT_EQ(around(machine).mps.folder, false);
  machine.recording->environment["CUDA_MPS_PIPE_DIRECTORY"] = "/run/mps";
  machine.present("/run/mps/control");
  machine.recording->files["/run/mps/control"].uid = 1000;
  machine.text("/run/mps/nvidia-cuda-mps-control.pid", "4711\n");
  machine.text("/proc/4711/comm", "nvidia-cuda-mps\n");
  MpsFacts mps = around(machine).mps;
  EXPECT_EQ(mps.pipe_folder, "/run/mps");
  EXPECT_EQ(mps.control_socket, true);
  EXPECT_EQ(mps.owner, 1000u);
  EXPECT_EQ(mps.daemon, true);
}

TEST(PlaceNetwork, InterfacesAndPorts) {
  RecordedMachine machine;
  machine.text("/sys/class/net/lo/operstate", "unknown\n").text("/sys/class/net/lo/flags", "0x9");
  machine.text("/sys/class/net/eth0/operstate", "up\n");
  machine.text("/sys/class/net/docker0/operstate", "down\n");
  machine.text("/sys/class/net/tun0/operstate", "unknown\n");
  machine.text("/sys/class/net/tun0/flags", "0x10d1\n");
  std::string port = "/sys/class/infiniband/mlx5_0/ports/1/";
  machine.text(port + "state", "4: ACTIVE\n").text(port + "phys_state", "5: LinkUp\n");
  machine.text(port + "rate", "400 Gb/sec (4X NDR)\n").text(port + "link_layer", "InfiniBand\n");
  machine.text(port + "counters/link_downed", "3\n");
  machine.text("/etc/nccl.conf", "NCCL_DEBUG=INFO\n#NCCL_X=1\n");
  NetworkFacts network = machine.probed(probe_place).network;
  EXPECT_EQ(network.interfaces, (Names{"docker0", "eth0", "lo", "tun0"}));
  EXPECT_EQ(network.interfaces_up, (Names{"eth0", "tun0"}));
  ASSERT_EQ(network.ports.size(), 1u);
  EXPECT_EQ(network.ports[0].state, "4: ACTIVE");
  EXPECT_EQ(network.ports[0].rate, "400 Gb/sec (4X NDR)");
  EXPECT_EQ(network.ports[0].link_downed, 3u);
  EXPECT_EQ(network.verbs_nodes, false);
  EXPECT_EQ(network.nccl_settings, Names{"/etc/nccl.conf:1: NCCL_DEBUG=INFO"});
}

TEST(PlacePeriodic, CrontabsAndTimers) {
  RecordedMachine machine;
  machine.text("/etc/cron.d/gpu", "SHELL=/bin/sh\n*/5 * * * * root nvidia-smi >> /var/log/gpu\n"
                                  "0 3 * * * root backup\n");
  machine.text("/etc/systemd/system/watch.timer",
               "[Timer]\nOnUnitActiveSec=10s\nUnit=gpu-watch.service\n");
  machine.text("/etc/systemd/system/gpu-watch.service",
               "[Service]\nExecStart=/usr/bin/nvidia-smi -q\n");
  machine.text("/etc/systemd/system/other.timer", "[Timer]\nOnCalendar=daily\n");
  std::vector<PeriodicJob> jobs = machine.probed(probe_place).periodic;
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].file, "/etc/cron.d/gpu:2");
  EXPECT_EQ(jobs[0].period_s, 300.0);
  EXPECT_EQ(jobs[1].file, "/etc/systemd/system/watch.timer");
  EXPECT_EQ(jobs[1].period_s, 10.0);
}

TEST(PlaceFabricManager, TellsTheLastStartOnly) {
  RecordedMachine machine;
  machine.present("/usr/bin/nv-fabricmanager");
  machine.text(
      "/var/log/fabricmanager.log",
      "Fabric Manager Log initializing at: 1/1/2025 09:00:00.000\n"
      "[Jan 01 2025 09:00:00] [ERROR] [tid 1] an old one\n"
      "Fabric Manager Log initializing at: 1/2/2025 09:00:00.000\n"
      "[Jan 02 2025 09:00:00] [INFO] [tid 1] Fabric Manager version 550.90.07 is running\n"
      "[Jan 02 2025 09:00:01] [ERROR] [tid 1] detected number of NVSwitches don't match\n");
  FabricManager manager = machine.probed(probe_place).fabric_manager;
  EXPECT_EQ(manager.program, "/usr/bin/nv-fabricmanager");
  EXPECT_EQ(*manager.version, "550.90.07");
  ASSERT_EQ(manager.lines.size(), 1u);
  EXPECT_NE(manager.lines[0].find("don't match"), std::string::npos);
}

} // namespace
} // namespace gpuvet
