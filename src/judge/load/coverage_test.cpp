#include "judge/load/coverage.hpp"
#include "judge/load/driver_needs.hpp"
#include "judge/load/kernel_architecture.hpp"
#include "judge/load/testing/build.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::device;
using testing::driver;
using testing::rules;

Container part(const std::string& words, Role role = Role::registered,
               std::vector<std::string> kernels = {"k"}) {
  Container container = testing::container(words);
  container.role = role;
  container.kernels = std::move(kernels);
  container.kernels_read = true;
  return container;
}

Binary binary(std::vector<Container> containers) {
  Binary binary;
  binary.containers = std::move(containers);
  binary.toolkit = unknown<Version>("test");
  return binary;
}

FileVerdict judge(const Binary& binary, uint32_t sm) {
  return judge_file(binary, device(sm), nullptr, {}, rules());
}

TEST(Coverage, IsAsGoodAsTheWorstContainer) {
  Binary file = binary({part("sm_80 sm_90"), part("sm_90")});
  EXPECT_EQ(judge(file, 90).coverage, Coverage::full);
  FileVerdict a100 = judge(file, 80);
  EXPECT_EQ(a100.coverage, Coverage::partial);
  EXPECT_EQ(a100.error, 209);
  ASSERT_EQ(a100.shortfalls.size(), 1u);
  EXPECT_EQ(a100.shortfalls[0].kernels, (std::vector<std::string>{"k"}));
  EXPECT_EQ(judge(file, 75).coverage, Coverage::none);
}

TEST(Coverage, NoCodeIsNeitherYesNorNo) {
  EXPECT_EQ(judge(binary({}), 90).coverage, Coverage::no_code);
  EXPECT_EQ(judge(binary({part("")}), 90).coverage, Coverage::no_code);
}

TEST(Coverage, OtherGpusSpecificCodeIsAVariant) {
  Binary file = binary({part("sm_80 sm_90 compute_90"), part("sm_100a"), part("sm_120f")});
  FileVerdict h100 = judge(file, 90);
  EXPECT_EQ(h100.coverage, Coverage::variants);
  EXPECT_EQ(h100.variants, 2u);
  EXPECT_EQ(h100.error, 0);
}

TEST(Coverage, SpecificCodeAloneIsNothingElsewhere) {
  EXPECT_EQ(judge(binary({part("sm_90a compute_90a")}), 100).coverage, Coverage::none);
}

TEST(Coverage, KernelsNamedForANewerArchitectureAreVariants) {
  Binary file = binary({part("sm_80"), part("sm_100", Role::registered, {"cutlass3x_sm100_gemm"})});
  EXPECT_EQ(judge(file, 80).coverage, Coverage::variants);
  file.containers[1].kernels = {"softmax"};
  EXPECT_EQ(judge(file, 80).coverage, Coverage::partial);
}

TEST(Coverage, KernelsNamedForAnOlderOneOnlyWhereTheFileDispatches) {
  Container ampere = part("sm_80", Role::registered, {"ampere_s16816gemm_bf16"});
  Binary lone = binary({part("sm_80 sm_90 sm_100 sm_120"), ampere});
  EXPECT_EQ(judge(lone, 90).coverage, Coverage::partial);
  Binary library = binary({part("sm_80 sm_90 sm_100 sm_120"), ampere,
                           part("sm_75", Role::registered, {"turing_h1688gemm"})});
  EXPECT_EQ(judge(library, 90).coverage, Coverage::variants);
}

TEST(Coverage, LibrariesThatChooseByGpuHaveNoGapsWhereTheyHaveAnything) {
  Binary file = binary({part("sm_80 sm_90"), part("sm_75")});
  file.path = "site-packages/nvidia/cu13/lib/libcublasLt.so.13";
  EXPECT_EQ(judge(file, 90).coverage, Coverage::variants);
  EXPECT_EQ(judge(file, 100).coverage, Coverage::none);
  file.path = "wheel.whl!libcublasLt.so.13";
  EXPECT_EQ(judge(file, 90).coverage, Coverage::variants);
  file.path = "/opt/libcublasLt/libmine.so";
  EXPECT_EQ(judge(file, 90).coverage, Coverage::partial);
}

TEST(Coverage, ContainersWithoutKernelsCannotFail) {
  Binary file = binary({part("sm_90"), part("sm_75", Role::registered, {})});
  EXPECT_EQ(judge(file, 90).coverage, Coverage::full);
  file.containers[1].kernels_read = false; // not known is not the same as none
  EXPECT_EQ(judge(file, 90).coverage, Coverage::partial);
}

TEST(Coverage, UnreferencedContainersDoNotCount) {
  Binary file = binary({part("sm_90"), part("sm_75", Role::unreferenced)});
  EXPECT_EQ(judge(file, 90).coverage, Coverage::full);
}

TEST(Coverage, EmbeddedCodeIsChosenByTheProgram) {
  Binary file = binary({part("sm_80", Role::embedded), part("sm_90", Role::embedded)});
  EXPECT_EQ(judge(file, 90).coverage, Coverage::variants);
  EXPECT_EQ(judge(file, 75).coverage, Coverage::none);
}

TEST(Coverage, LtoIrNeedsNvJitLink) {
  Binary file = binary({part("lto_75", Role::embedded)});
  EXPECT_EQ(judge(file, 90).coverage, Coverage::none);
  file.runtime_compilers.push_back({"nvJitLink", "test"});
  EXPECT_EQ(judge(file, 90).coverage, Coverage::full);
  EXPECT_EQ(judge(file, 90).linked, 1u);
  EXPECT_EQ(judge(file, 70).coverage, Coverage::none);
}

TEST(Coverage, DeviceLinkedCodeUsesItsParts) {
  Binary file = binary({part("sm_80", Role::linked), part("sm_80 compute_80", Role::relocatable)});
  EXPECT_EQ(judge(file, 80).native, 1u);
  EXPECT_EQ(judge(file, 90).linked, 1u);
  EXPECT_EQ(judge(file, 75).coverage, Coverage::none);
}

TEST(Coverage, DisputedOutcomesAreNeverAYes) {
  EXPECT_EQ(judge(binary({part("sm_80"), part("sm_87")}), 87).coverage, Coverage::may_fail);
  EXPECT_EQ(judge(binary({part("sm_80")}), 87).coverage, Coverage::may_fail);
}

FileVerdict with_driver(const Binary& file, uint32_t sm, const std::string& version) {
  LoadDriver one = driver(version);
  return judge_file(file, device(sm), &one, {}, rules());
}

TEST(Driver, DroppedAndUnknownGpus) {
  Binary file = binary({part("sm_70 sm_120")});
  EXPECT_EQ(with_driver(file, 70, "580.65.06").coverage, Coverage::full);
  FileVerdict dropped = with_driver(file, 70, "590.44");
  EXPECT_EQ(dropped.error, 100);
  EXPECT_NE(dropped.driver_fix.find("580"), std::string::npos);
  EXPECT_EQ(with_driver(file, 120, "550.54.14").error, 100);
  EXPECT_EQ(with_driver(binary({part("sm_89")}), 89, "525.60.13").coverage, Coverage::full);
}

TEST(Driver, MinorVersionCompatibilityHasAFloor) {
  Binary file = binary({part("sm_90")});
  file.toolkit = known(*parse_version("12.8"), "test");
  EXPECT_EQ(with_driver(file, 90, "525.60.13").coverage, Coverage::full);
  EXPECT_EQ(with_driver(file, 90, "525").coverage, Coverage::full); // some 525 is new enough
  EXPECT_EQ(with_driver(file, 90, "525.53").error, 35);
  EXPECT_EQ(with_driver(file, 90, "520.61.05").error, 35);
  file.toolkit = known(*parse_version("13.0"), "test");
  EXPECT_EQ(with_driver(file, 90, "570.86.10").error, 35);
  // Code loaded by address tells nothing about the runtime in use.
  file.containers[0].role = Role::embedded;
  EXPECT_EQ(with_driver(file, 90, "570.86.10").coverage, Coverage::full);
}

TEST(Driver, OldToolkitsNeedTheirOwn) {
  Binary file = binary({part("sm_70")});
  file.toolkit = known(*parse_version("10.1"), "test");
  EXPECT_EQ(with_driver(file, 70, "418.39").coverage, Coverage::full);
  EXPECT_EQ(with_driver(file, 70, "410.48").error, 35);
}

TEST(Driver, SaysWhichIsNeededWithoutOne) {
  FileVerdict jit = judge(binary({part("compute_80")}), 120); // PTX 9.0
  EXPECT_EQ(jit.needs_driver, "580");
  FileVerdict native = judge(binary({part("sm_86")}), 86);
  EXPECT_EQ(native.needs_driver, "455");                          // sm_86 came with CUDA 11.1
  EXPECT_EQ(judge(binary({part("sm_90")}), 75).needs_driver, ""); // no driver helps
}

TEST(KernelNames, TellArchitectures) {
  auto first = [](const char* name) {
    auto named = architectures_in_name(name, rules());
    return named.empty() ? 0u : named[0].first_sm;
  };
  EXPECT_EQ(first("cutlass3x_sm100_tensorop_s128x64x16gemm"), 100u);
  EXPECT_EQ(first("_ZN7cutlass4arch4Sm80E"), 80u);
  EXPECT_EQ(first("_ZN7cutlass6KernelI46cutlass_70_simt_dgemm_grouped"), 70u);
  EXPECT_EQ(first("flash_fwd_sm_90"), 90u);
  EXPECT_EQ(first("volta_fp16_s884gemm"), 70u);
  EXPECT_EQ(first("softmax_small"), 0u);
  EXPECT_EQ(first("smooth16_kernel"), 0u);
  EXPECT_EQ(first("transmit_sm1024"), 0u);
}

TEST(NamesWanted, OnlyWhereTheyDecideOrAreShown) {
  std::vector<Container> containers(20, part("sm_75"));
  std::vector<LoadDevice> devices = {device(90)};
  EXPECT_EQ(containers_to_name(containers, devices, rules()).size(), 8u);
  containers.push_back(part("sm_90"));
  EXPECT_EQ(containers_to_name(containers, devices, rules()).size(), 20u);
  EXPECT_TRUE(names_would_help(containers[0], devices, rules()));
  EXPECT_FALSE(names_would_help(containers[20], devices, rules()));
}

} // namespace
} // namespace gpuvet
