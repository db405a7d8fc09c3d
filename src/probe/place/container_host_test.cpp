#include "probe/testing/recorded_machine.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::RecordedMachine;
using Names = std::vector<std::string>;

ContainerHost host(const RecordedMachine& machine) {
  return machine.probed(probe_place).container_host;
}

RecordedMachine with_docker() {
  RecordedMachine machine;
  machine.present("/usr/bin/dockerd").present("/usr/bin/nvidia-container-runtime");
  return machine;
}

TEST(PlaceDocker, KnowsTheRuntimeOrNot) {
  EXPECT_FALSE(host(RecordedMachine()).docker_knows_nvidia);
  RecordedMachine machine = with_docker();
  EXPECT_EQ(host(machine).docker_knows_nvidia, false);
  machine.text("/etc/docker/daemon.json",
               R"({"default-runtime": "nvidia", "runtimes": {"nvidia": {"args": [],
                   "path": "nvidia-container-runtime"}}})");
  ContainerHost good = host(machine);
  EXPECT_EQ(good.docker_knows_nvidia, true);
  EXPECT_EQ(good.docker_default_runtime, "nvidia");
  EXPECT_EQ(good.docker_runtime_path, "nvidia-container-runtime");
  EXPECT_EQ(good.docker_problem, "");
  EXPECT_EQ(good.runtime_files, Names{"/usr/bin/nvidia-container-runtime"});
}

TEST(PlaceDocker, BrokenSettingsAreAProblem) {
  RecordedMachine machine = with_docker();
  machine.text("/etc/docker/daemon.json", R"({"runtimes": {"nvidia": {"path": "/gone"}}})");
  EXPECT_NE(host(machine).docker_problem.find("/gone"), std::string::npos);
  machine.text("/etc/docker/daemon.json", R"({"runtimes": {)");
  EXPECT_NE(host(machine).docker_problem.find("not JSON"), std::string::npos);
  EXPECT_FALSE(host(machine).docker_knows_nvidia);
  machine.unreadable("/etc/docker/daemon.json", "Permission denied");
  EXPECT_FALSE(host(machine).docker_knows_nvidia);
  EXPECT_FALSE(host(machine).docker_config);
}

TEST(PlaceDocker, SnapAndRootlessHaveTheirOwnFiles) {
  RecordedMachine machine = with_docker();
  machine.text("/var/snap/docker/current/config/daemon.json", R"({"runtimes": {"nvidia": {}}})");
  machine.text("/etc/docker/daemon.json", "{}");
  ContainerHost snap = host(machine);
  EXPECT_TRUE(snap.docker_snap);
  EXPECT_EQ(snap.docker_config_file, "/var/snap/docker/current/config/daemon.json");
  EXPECT_EQ(snap.docker_knows_nvidia, true);
}

TEST(PlaceRuntimes, ReadsTheSettingsBySection) {
  RecordedMachine machine;
  machine.text("/etc/nvidia-container-runtime/config.toml",
               "#accept-nvidia-visible-devices-envvar-when-unprivileged = true\n"
               "disable-require = false\n\n[nvidia-container-cli]\nno-cgroups = true # rootless\n"
               "ldconfig = \"@/sbin/ldconfig.real\"\n[nvidia-container-runtime]\n"
               "mode = \"auto\"\n[nvidia-container-runtime.modes.cdi]\n"
               "spec-dirs = [\"/etc/cdi\", \"/var/run/cdi\"]\n");
  auto config = host(machine).runtime_config;
  EXPECT_EQ(config["disable-require"], "false");
  EXPECT_EQ(config["nvidia-container-cli.no-cgroups"], "true");
  EXPECT_EQ(config["nvidia-container-cli.ldconfig"], "@/sbin/ldconfig.real");
  EXPECT_EQ(config["nvidia-container-runtime.mode"], "auto");
  EXPECT_EQ(config["nvidia-container-runtime.modes.cdi.spec-dirs"],
            "[\"/etc/cdi\", \"/var/run/cdi\"]");
  EXPECT_EQ(config.size(), 5u);
}

TEST(PlaceRuntimes, ContainerdWithAndWithoutNvidia) {
  RecordedMachine machine;
  machine.text("/etc/containerd/config.toml", "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"."
                                              "containerd]\ndefault_runtime_name = \"runc\"\n");
  machine.text("/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
               "[plugins.'io.containerd.cri.v1.runtime'.containerd]\n"
               "  default_runtime_name = \"nvidia\"\n"
               "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.'nvidia']\n"
               "  runtime_type = \"io.containerd.runc.v2\"\n");
  ContainerHost both = host(machine);
  EXPECT_EQ(both.containerd_configs.size(), 2u);
  EXPECT_EQ(both.containerd_nvidia["/etc/containerd/config.toml"], "");
  EXPECT_EQ(both.containerd_nvidia["/var/lib/rancher/k3s/agent/etc/containerd/config.toml"],
            "nvidia");
}

TEST(PlaceRuntimes, TheRunningDaemonNamesItsFile) {
  RecordedMachine machine;
  machine.text("/sys/fs/cgroup/system.slice/containerd.service/cgroup.procs", "812\n");
  machine.binary("/proc/812/cmdline",
                 std::string("/usr/bin/containerd\0--config\0/opt/c.toml\0", 42));
  machine.text("/opt/c.toml", "[plugins.cri.containerd.runtimes.nvidia]\n");
  EXPECT_EQ(host(machine).containerd_configs, Names{"/opt/c.toml"});
  EXPECT_EQ(host(machine).containerd_nvidia["/opt/c.toml"], "runc");
}

TEST(PlaceRuntimes, WhatTheOperatorLeft) {
  RecordedMachine machine;
  machine.text("/run/nvidia/validations/driver-ready", "");
  machine.present("/run/nvidia/driver/usr/bin/nvidia-smi");
  EXPECT_EQ(host(machine).gpu_operator_validations, Names{"driver-ready"});
  EXPECT_EQ(host(machine).driver_root, "/run/nvidia/driver");
}

TEST(PlaceCdi, ComparesASpecificationWithTheDisk) {
  RecordedMachine machine;
  machine.text("/etc/cdi/nvidia.yaml", "cdiVersion: 0.5.0\n"
                                       "kind: nvidia.com/gpu\n"
                                       "containerEdits:\n"
                                       "  deviceNodes:\n"
                                       "  - path: /dev/nvidia-uvm\n"
                                       "    major: 511\n"
                                       "  mounts:\n"
                                       "  - containerPath: /usr/lib64/libcuda.so.550.90.07\n"
                                       "    hostPath: /usr/lib64/libcuda.so.550.90.07\n"
                                       "    options:\n"
                                       "    - ro\n"
                                       "devices:\n"
                                       "- name: \"0\"\n"
                                       "  containerEdits:\n"
                                       "    deviceNodes:\n"
                                       "    - path: /dev/nvidia0\n"
                                       "- name: all\n");
  machine.node("/dev/nvidia-uvm", 508, 0);
  machine.node("/dev/nvidia0", 195, 0);
  ContainerHost seen = host(machine);
  ASSERT_EQ(seen.cdi.size(), 1u);
  const ContainerHost::Cdi& cdi = seen.cdi[0];
  EXPECT_EQ(cdi.kind, "nvidia.com/gpu");
  EXPECT_EQ(cdi.devices, (Names{"0", "all"}));
  EXPECT_EQ(cdi.driver_version, "550.90.07");
  EXPECT_EQ(cdi.missing_paths, Names{"/usr/lib64/libcuda.so.550.90.07"});
  EXPECT_EQ(cdi.node_majors.at("/dev/nvidia-uvm"), 511u);
  EXPECT_EQ(cdi.problem, "");
}

TEST(PlaceCdi, JsonOthersAndWhatCannotBeRead) {
  RecordedMachine machine;
  machine.text("/var/run/cdi/a.json", R"({"kind": "nvidia.com/gpu", "devices": [{"name": "0"}]})");
  machine.text("/etc/cdi/other.yaml", "kind: example.com/net\n");
  machine.text("/etc/cdi/nvidia.yaml", "kind: nvidia.com/gpu\ndevices: [{name: all}]\n");
  ContainerHost seen = host(machine);
  ASSERT_EQ(seen.cdi.size(), 2u);
  EXPECT_EQ(seen.cdi[0].file, "/etc/cdi/nvidia.yaml");
  EXPECT_EQ(seen.cdi[0].problem.find("line 2:"), 0u);
  EXPECT_EQ(seen.cdi[1].devices, Names{"0"});
}

} // namespace
} // namespace gpuvet
