#include "cli/verify/environment.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

CudaLibrary library(const std::string& path, const std::string& python) {
  CudaLibrary made;
  made.file.path = path;
  made.python = python;
  return made;
}

TEST(Environment, LibrariesOfTheFirstPythonComeBeforeTheSystems) {
  Machine machine;
  machine.libraries = {library("/usr/lib/x86_64-linux-gnu/libcudnn.so.9", ""),
                       library("/usr/lib/x86_64-linux-gnu/libnccl.so.2", ""),
                       library("/venv/sp/nvidia/cudnn/lib/libcudnn_ops.so.9", "/venv/sp"),
                       library("/venv/sp/nvidia/cudnn/lib/libcudnn.so.9", "/venv/sp")};
  PythonEnv env;
  env.folders = {"/venv/sp"};
  machine.pythons = {env};
  const LibraryFiles files = library_files(machine);
  EXPECT_EQ(files.cudnn, "/venv/sp/nvidia/cudnn/lib/libcudnn.so.9");
  EXPECT_EQ(files.nccl, "/usr/lib/x86_64-linux-gnu/libnccl.so.2");
  EXPECT_EQ(files.cublaslt, "");
}

TEST(Environment, FrameworksAreAskedWhereTheyAreInstalled) {
  Machine machine;
  PythonEnv env;
  env.executable = "/venv/bin/python3";
  env.packages = known(
      std::vector<PythonPackage>{
          {.name = "cupy-cuda13x"}, {.name = "torchvision"}, {.name = "jaxlib"}, {.name = "torch"}},
      "/venv");
  machine.pythons = {env, PythonEnv{}};
  const auto groups = framework_groups(machine, 5, false);
  ASSERT_EQ(groups.size(), 1u);
  const auto& requests = groups[0];
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].framework, "torch");
  EXPECT_EQ(requests[1].framework, "cupy");
  EXPECT_EQ(requests[1].python, "/venv/bin/python3");
  EXPECT_EQ(requests[1].seed, 5u);
}

TEST(Environment, WhereItRuns) {
  Machine machine;
  EXPECT_EQ(host_kind(machine), "unknown");
  machine.surroundings.hypervisor = known(std::string("none"), "DMI");
  machine.surroundings.container = known(ContainerKind::none, "cgroup");
  EXPECT_EQ(host_kind(machine), "bare metal");
  machine.surroundings.container = known(ContainerKind::docker, "cgroup");
  EXPECT_EQ(host_kind(machine), "container");
  machine.surroundings.hypervisor = known(std::string("KVM"), "DMI");
  EXPECT_EQ(host_kind(machine), "virtual machine");
  machine.surroundings.wsl = true;
  EXPECT_EQ(host_kind(machine), "wsl2");
}

} // namespace
} // namespace gpuvet
