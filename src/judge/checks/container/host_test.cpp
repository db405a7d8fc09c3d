#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {
namespace {

Outcome ask_host(const char* id, const Machine& machine) {
  return ask(check_functions(), std::string("container-host-") + id, machine);
}

CheckList host_checks() {
  CheckList all = container_host_checks();
  const CheckList more = cdi_checks();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Docker and Podman, with the toolkit, set up as its documentation says.
Machine docker_host() {
  Machine machine = healthy_h100();
  ContainerHost& host = machine.container_host;
  host.docker = host.podman = true;
  host.toolkit = known<std::string>("1.17.8", "nvidia-ctk");
  host.runtime_files = {"/usr/bin/nvidia-ctk"};
  host.docker_config_file = "/etc/docker/daemon.json";
  host.docker_config = known<std::string>("{}", "/etc/docker/daemon.json");
  host.docker_knows_nvidia = true;
  host.docker_runtime_path = "nvidia-container-runtime";
  ContainerHost::Cdi cdi;
  cdi.file = "/etc/cdi/nvidia.yaml";
  cdi.kind = "nvidia.com/gpu";
  cdi.devices = {"0", "all"};
  cdi.driver_version = "580.65.06";
  cdi.node_majors = {{"/dev/nvidia-uvm", 511}, {"/dev/nvidia0", 195}};
  host.cdi = {cdi};
  machine.loader.cache_sonames =
      known<std::vector<std::string>>({"libcuda.so.1", "libnvidia-ml.so.1"}, "/etc/ld.so.cache");
  return machine;
}

TEST(ContainerHost, AHealthyOneIsFine) {
  for (const CheckCode& check : host_checks()) {
    Answer answer = check.run(docker_host(), facts()).answer;
    EXPECT_TRUE(answer == Answer::ok || answer == Answer::not_applicable) << check.id;
  }
}

TEST(ContainerHost, NothingToSayWithoutRuntimeOrGpu) {
  Machine machine = no_gpu();
  machine.container_host.docker = true;
  for (const CheckCode& check : host_checks()) {
    EXPECT_EQ(check.run(healthy_h100(), facts()).answer, Answer::not_applicable) << check.id;
    EXPECT_EQ(check.run(machine, facts()).answer, Answer::not_applicable) << check.id;
    EXPECT_EQ(check.run(container(), facts()).answer, Answer::not_applicable) << check.id;
  }
}

TEST(ContainerHost, ToolkitMissing) {
  Machine machine = docker_host();
  machine.container_host.toolkit = unknown<std::string>("not installed");
  machine.container_host.runtime_files.clear();
  EXPECT_EQ(ask_host("toolkit-missing", machine).fields["runtime"], "docker");
  machine.container_host.driver_root = "/run/nvidia/driver";
  EXPECT_EQ(ask_host("toolkit-missing", machine).answer, Answer::not_applicable);
  machine.container_host.driver_root.clear();
  machine.packages.relevant.value->push_back({"nvidia-container-toolkit", "1.17.8-1", "ii", "all"});
  EXPECT_EQ(ask_host("toolkit-missing", machine).answer, Answer::ok);
}

TEST(ContainerHostDocker, Settings) {
  Machine machine = docker_host();
  ContainerHost& host = machine.container_host;
  host.docker_knows_nvidia = false;
  EXPECT_EQ(ask_host("docker-not-configured", machine).answer, Answer::fires);
  EXPECT_EQ(ask_host("docker-config-broken", machine).answer, Answer::ok);
  host.docker_knows_nvidia.reset();
  host.docker_problem = "/etc/docker/daemon.json: not JSON: line 3";
  EXPECT_EQ(ask_host("docker-config-broken", machine).answer, Answer::fires);
  EXPECT_EQ(ask_host("docker-runtime-gone", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_host("docker-not-configured", machine).answer, Answer::unknown);
  host.docker_config = unknown<std::string>("/etc/docker/daemon.json: Permission denied");
  EXPECT_EQ(ask_host("docker-config-broken", machine).answer, Answer::unknown);
  EXPECT_EQ(ask_host("docker-runtime-gone", machine).answer, Answer::unknown);
}

TEST(ContainerHostDocker, TheRuntimeIsGone) {
  Machine machine = docker_host();
  ContainerHost& host = machine.container_host;
  host.docker_problem =
      "/etc/docker/daemon.json: runtimes.nvidia.path is /gone, which is not there";
  host.docker_runtime_path = "/gone";
  EXPECT_EQ(ask_host("docker-runtime-gone", machine).fields["who"],
            "containers with --runtime=nvidia do not start");
  host.docker_default_runtime = "nvidia";
  EXPECT_EQ(ask_host("docker-runtime-gone", machine).fields["who"], "no container starts");
  EXPECT_EQ(ask_host("docker-config-broken", machine).answer, Answer::ok);
}

TEST(ContainerHostDocker, SnapCgroupsModes) {
  Machine machine = docker_host();
  ContainerHost& host = machine.container_host;
  host.docker_snap = true;
  EXPECT_EQ(ask_host("docker-snap", machine).answer, Answer::fires);
  host.runtime_config["nvidia-container-cli.no-cgroups"] = "true";
  EXPECT_EQ(ask_host("no-cgroups", machine).answer, Answer::fires);
  EXPECT_EQ(ask_host("rootless-cgroups", machine).answer, Answer::not_applicable);
  host.docker_rootless = true;
  EXPECT_EQ(ask_host("no-cgroups", machine).answer, Answer::not_applicable);
  EXPECT_EQ(ask_host("rootless-cgroups", machine).answer, Answer::ok);
  host.runtime_config.clear();
  EXPECT_EQ(ask_host("rootless-cgroups", machine).answer, Answer::fires);
  host.runtime_config["nvidia-container-runtime.mode"] = "cdi";
  EXPECT_EQ(ask_host("mode-cdi", machine).answer, Answer::fires);
}

TEST(ContainerHostCdi, StaleSpecifications) {
  Machine machine = docker_host();
  ContainerHost::Cdi& cdi = machine.container_host.cdi[0];
  cdi.driver_version = "575.57.08";
  EXPECT_EQ(ask_host("cdi-driver", machine).fields["old"], "575.57.08");
  cdi.node_majors["/dev/nvidia-uvm"] = 508;
  EXPECT_EQ(ask_host("cdi-majors", machine).fields["old"], "508");
  cdi.missing_paths = {"/usr/lib/x86_64-linux-gnu/libcuda.so.575.57.08"};
  EXPECT_EQ(ask_host("cdi-paths", machine).fields["count"], "1 file");
  machine.kernel.module_version = unknown<std::string>("not readable");
  EXPECT_EQ(ask_host("cdi-driver", machine).answer, Answer::unknown);
}

TEST(ContainerHostCdi, WhatCannotBeReadIsOpen) {
  Machine machine = docker_host();
  machine.container_host.cdi[0].problem = "line 2: this form is not understood";
  for (const char* id : {"cdi-paths", "cdi-driver", "cdi-majors", "cdi-twice"})
    EXPECT_EQ(ask_host(id, machine).answer, Answer::unknown) << id;
  EXPECT_EQ(ask_host("cdi-missing", machine).answer, Answer::ok);
}

TEST(ContainerHostCdi, MissingOrTwice) {
  Machine machine = docker_host();
  ContainerHost::Cdi copy = machine.container_host.cdi[0];
  copy.file = "/var/run/cdi/nvidia.yaml";
  machine.container_host.cdi.push_back(copy);
  EXPECT_EQ(ask_host("cdi-twice", machine).answer, Answer::ok) << "the later folder wins";
  machine.container_host.cdi[1].file = "/etc/cdi/nvidia-old.yaml";
  EXPECT_EQ(ask_host("cdi-twice", machine).fields["device"], "nvidia.com/gpu=0");
  machine.container_host.cdi.clear();
  EXPECT_EQ(ask_host("cdi-missing", machine).answer, Answer::fires);
  EXPECT_EQ(ask_host("cdi-paths", machine).answer, Answer::not_applicable);
  machine.container_host.podman = false;
  EXPECT_EQ(ask_host("cdi-missing", machine).answer, Answer::not_applicable);
}

TEST(ContainerHostContainerd, SettingsThatAreNotRead) {
  Machine machine = docker_host();
  EXPECT_EQ(ask_host("containerd-unset", machine).answer, Answer::not_applicable);
  machine.surroundings.kubernetes_node = true;
  EXPECT_EQ(ask_host("containerd-unset", machine).answer, Answer::unknown);
  const std::string used = "/var/lib/rancher/k3s/agent/etc/containerd/config.toml";
  machine.container_host.containerd_configs = {"/etc/containerd/config.toml", used};
  machine.container_host.containerd_nvidia = {{used, ""},
                                              {"/etc/containerd/config.toml", "nvidia"}};
  Outcome outcome = ask_host("containerd-unset", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_NE(outcome.fields["where"].find("/etc/containerd/config.toml"), std::string::npos);
  machine.container_host.containerd_nvidia[used] = "runc";
  EXPECT_EQ(ask_host("containerd-unset", machine).answer, Answer::ok);
}

TEST(ContainerHostToolkit, CacheLinksVersionPackages) {
  Machine machine = docker_host();
  machine.loader.cache_sonames.value->pop_back();
  EXPECT_EQ(ask_host("not-in-cache", machine).fields["name"], "libnvidia-ml.so.1");
  machine.loader.cache_sonames = unknown<std::vector<std::string>>("no cache");
  EXPECT_EQ(ask_host("not-in-cache", machine).answer, Answer::unknown);

  machine.kernel.dev_char_links = false;
  EXPECT_EQ(ask_host("no-char-links", machine).answer, Answer::fires);
  machine.container_host.docker_config =
      known<std::string>(R"({"exec-opts": ["native.cgroupdriver=cgroupfs"]})", "daemon.json");
  EXPECT_EQ(ask_host("no-char-links", machine).answer, Answer::not_applicable);
  machine.kernel.dev_char_links.reset();
  EXPECT_EQ(ask_host("no-char-links", machine).answer, Answer::unknown);

  machine.container_host.toolkit = known<std::string>("1.16.2", "nvidia-ctk");
  EXPECT_EQ(ask_host("toolkit-vulnerable", machine).fields["version"], "1.16.2");
  machine.container_host.toolkit = unknown<std::string>("not told");
  EXPECT_EQ(ask_host("toolkit-vulnerable", machine).answer, Answer::unknown);

  machine.packages.relevant.value->push_back({"nvidia-docker2", "2.13.0", "ii", "all"});
  EXPECT_EQ(ask_host("legacy-packages", machine).fields["packages"], "nvidia-docker2");
}

TEST(ContainerHostToolkit, RepositoryWithTwoKeys) {
  Machine machine = docker_host();
  const std::string url = "https://nvidia.github.io/libnvidia-container/stable/deb/amd64";
  machine.packages.repositories = {{"/etc/apt/sources.list.d/nvidia-container-toolkit.list:1", url,
                                    "/usr/share/keyrings/a.gpg"}};
  EXPECT_EQ(ask_host("repository-twice", machine).answer, Answer::ok);
  machine.packages.repositories.push_back(
      {"/etc/apt/sources.list.d/nvidia-docker.list:1", url, "/usr/share/keyrings/b.gpg"});
  EXPECT_EQ(ask_host("repository-twice", machine).fields["other"],
            "/etc/apt/sources.list.d/nvidia-docker.list");
}

TEST(ContainerHostSelinux, OnlyWithPodman) {
  Machine machine = docker_host();
  machine.kernel.selinux_enforcing = known(true, "/sys/fs/selinux/enforce");
  EXPECT_EQ(ask_host("selinux", machine).answer, Answer::fires);
  machine.container_host.podman = false;
  EXPECT_EQ(ask_host("selinux", machine).answer, Answer::not_applicable);
}

// The driver's branch 565 with a toolkit that asks libnvidia-sandboxutils.
TEST(ContainerHostCdi, SandboxutilsOfOneBranch) {
  Machine machine = docker_host();
  EXPECT_EQ(ask_host("cdi-sandbox", machine).answer, Answer::not_applicable);
  machine.kernel.module_version = known<std::string>("565.57.01", "/sys/module/nvidia/version");
  EXPECT_EQ(ask_host("cdi-sandbox", machine).answer, Answer::ok) << "1.17.8 does not ask it";
  for (const char* version : {"1.17.0", "1.17.4-1", "1.18.1"}) {
    machine.container_host.toolkit = known<std::string>(version, "nvidia-ctk");
    EXPECT_EQ(ask_host("cdi-sandbox", machine).answer, Answer::fires) << version;
  }
  EXPECT_EQ(ask_host("cdi-sandbox", machine).fields["flag"], "disable-nvsandboxutils");
  machine.container_host.toolkit = known<std::string>("1.16.2", "nvidia-ctk");
  EXPECT_EQ(ask_host("cdi-sandbox", machine).answer, Answer::ok);
  machine.container_host.toolkit = known<std::string>("1.18.1", "nvidia-ctk");
  machine.container_host.cdi[0].driver_version = "565.57.01"; // it came out nevertheless
  EXPECT_EQ(ask_host("cdi-sandbox", machine).answer, Answer::ok);
}

} // namespace
} // namespace gpuvet::testing
