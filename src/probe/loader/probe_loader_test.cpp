#include "probe/loader/testing/fake_machine.hpp"
#include "probe/probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

using List = std::vector<std::string>;

Machine probe(const FakeMachine& fake) {
  Machine machine;
  probe_loader(fake.source(), machine);
  return machine;
}

const ResolvedSoname* resolved(const Machine& machine, const std::string& soname) {
  for (const ResolvedSoname& one : machine.loader.sonames)
    if (one.soname == soname) return &one;
  return nullptr;
}

List paths(const std::vector<LibraryFile>& files) {
  List list;
  for (const LibraryFile& file : files)
    list.push_back(file.path);
  return list;
}

FakeMachine with_driver() {
  FakeMachine fake;
  std::string folder = "/usr/lib/x86_64-linux-gnu/";
  fake.lib(folder + "libcuda.so.550.54.15", {.soname = "libcuda.so.1"});
  fake.link(folder + "libcuda.so.1", "libcuda.so.550.54.15");
  fake.link(folder + "libcuda.so", "libcuda.so.1");
  fake.lib(folder + "libnvidia-ml.so.550.54.15", {.soname = "libnvidia-ml.so.1"});
  fake.link(folder + "libnvidia-ml.so.1", "libnvidia-ml.so.550.54.15");
  fake.lib(folder + "libnvidia-ptxjitcompiler.so.550.54.15",
           {.soname = "libnvidia-ptxjitcompiler.so.1"});
  fake.text("/usr/bin/nvidia-smi", "");
  return fake;
}

TEST(ProbeLoader, FindsTheDriversFilesOnce) {
  FakeMachine fake = with_driver();
  fake.lib("/usr/lib/i386-linux-gnu/libcuda.so.550.54.15",
           {.bits = 32, .machine = 3, .soname = "libcuda.so.1"});
  Machine machine = probe(fake);
  EXPECT_EQ(paths(machine.driver.libcuda), (List{"/lib/x86_64-linux-gnu/libcuda.so.550.54.15"}));
  EXPECT_EQ(machine.driver.libcuda[0].version, "550.54.15");
  EXPECT_EQ(machine.driver.libcuda[0].readable, true);
  EXPECT_FALSE(machine.driver.libcuda[0].stub);
  EXPECT_EQ(machine.driver.libnvidia_ml.size(), 1u);
  EXPECT_EQ(machine.driver.ptxjitcompiler.size(), 1u);
  ASSERT_TRUE(machine.driver.user_version) << machine.driver.user_version.why_unknown;
  EXPECT_EQ(*machine.driver.user_version, "550.54.15");
  EXPECT_EQ(machine.driver.resolved_libcuda, "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15");
  EXPECT_TRUE(machine.driver.libcuda_unversioned);
  EXPECT_EQ(machine.driver.nvidia_smi, "/usr/bin/nvidia-smi");
}

TEST(ProbeLoader, StubsAndCompatInFrontDoNotHideTheDriversVersion) {
  FakeMachine fake = with_driver();
  fake.recording->environment["LD_LIBRARY_PATH"] =
      "/usr/local/cuda/lib64/stubs:/usr/local/cuda/compat::rel:~/lib:/gone:/gone";
  fake.lib("/usr/local/cuda-12.8/lib64/stubs/libcuda.so", {.soname = "libcuda.so.1"});
  fake.link("/usr/local/cuda-12.8/lib64/stubs/libcuda.so.1", "libcuda.so");
  fake.link("/usr/local/cuda", "cuda-12.8");
  fake.lib("/usr/local/cuda-12.8/compat/libcuda.so.570.86.10",
           {.soname = "libcuda.so.1", .forward_compatibility = "{\"Driver\":[535]}"});
  fake.link("/usr/local/cuda-12.8/compat/libcuda.so.1", "libcuda.so.570.86.10");
  Machine machine = probe(fake);
  EXPECT_EQ(machine.driver.resolved_libcuda, "/usr/local/cuda-12.8/lib64/stubs/libcuda.so");
  EXPECT_EQ(*machine.driver.user_version, "550.54.15");
  ASSERT_EQ(machine.driver.libcuda.size(), 3u);
  const ResolvedSoname* cuda = resolved(machine, "libcuda.so.1");
  ASSERT_NE(cuda, nullptr);
  EXPECT_EQ(cuda->found.rule, FoundBy::ld_library_path);
  EXPECT_EQ(cuda->shadowed,
            (List{"/usr/local/cuda/compat/libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1"}));
  auto compat = std::find_if(machine.driver.libcuda.begin(), machine.driver.libcuda.end(),
                             [](const LibraryFile& file) { return file.compat; });
  ASSERT_NE(compat, machine.driver.libcuda.end());
  EXPECT_EQ(compat->version, "570.86.10");
  EXPECT_EQ(compat->forward_compatibility, "{\"Driver\":[535]}");

  const auto& elements = machine.loader.library_path;
  ASSERT_EQ(elements.size(), 7u);
  EXPECT_TRUE(elements[0].stubs && elements[0].exists);
  EXPECT_TRUE(elements[2].empty);
  EXPECT_TRUE(elements[3].relative && !elements[3].exists);
  EXPECT_TRUE(elements[4].tilde);
  EXPECT_TRUE(!elements[5].exists && !elements[5].duplicate && elements[6].duplicate);
}

TEST(ProbeLoader, TellsCacheConfAndPreload) {
  FakeMachine fake;
  fake.text("/etc/ld.so.conf", "/usr/local/cuda/lib64\n");
  fake.recording->files["/etc/ld.so.conf"].changed = 2000;
  fake.text("/etc/ld.so.preload", "/gone.so # why\n");
  fake.recording->environment["LD_PRELOAD"] = "libc.so.6";
  fake.lib("/usr/local/cuda/lib64/libcudart.so.12", {.soname = "libcudart.so.12"});
  fake.cache({{"libcudart.so.12", "/usr/local/cuda/lib64/libcudart.so.12"}});
  Machine machine = probe(fake);
  EXPECT_EQ(machine.loader.cache_time, 1000);
  EXPECT_EQ(*machine.loader.cache_sonames, (List{"libcudart.so.12"}));
  ASSERT_EQ(machine.loader.conf_folders.size(), 1u);
  EXPECT_TRUE(machine.loader.conf_folders[0].exists);
  EXPECT_EQ(machine.loader.conf_folders[0].conf_time, 2000);
  EXPECT_EQ(machine.loader.preload, (List{"libc.so.6", "/gone.so"}));
  EXPECT_EQ(machine.loader.preload_missing, (List{"/gone.so"}));
  ASSERT_NE(resolved(machine, "libcudart.so.12"), nullptr);
  EXPECT_EQ(resolved(machine, "libcudart.so.12")->found.rule, FoundBy::cache);
  EXPECT_EQ(resolved(machine, "libcudart.so.13"), nullptr);
  const ResolvedSoname* cuda = resolved(machine, "libcuda.so.1");
  ASSERT_NE(cuda, nullptr);
  EXPECT_EQ(cuda->found.rule, FoundBy::not_found);
  EXPECT_FALSE(cuda->found.tried.empty());
  EXPECT_FALSE(machine.driver.user_version);
  EXPECT_TRUE(machine.loader.version_gaps.empty());
}

TEST(ProbeLoader, TellsVersionsThatALibraryLacks) {
  FakeMachine fake;
  fake.lib("/usr/lib/libcudart.so.12", {.soname = "libcudart.so.12",
                                        .needed = {"libc.so.6"},
                                        .version_needs = {{"libc.so.6", "GLIBC_2.38"}}});
  fake.lib("/usr/lib/x86_64-linux-gnu/libc.so.6",
           {.soname = "libc.so.6", .version_defs = {"GLIBC_2.17", "GLIBC_2.9"}});
  Machine machine = probe(fake);
  ASSERT_EQ(machine.loader.version_gaps.size(), 1u);
  const VersionGap& gap = machine.loader.version_gaps[0];
  EXPECT_EQ(gap.wanted_by, "/lib/libcudart.so.12");
  EXPECT_EQ(gap.version, "GLIBC_2.38");
  EXPECT_EQ(gap.has, "GLIBC_2.17");
}

} // namespace
} // namespace gpuvet
