#include "probe/python/gpu_packages.hpp"
#include "probe/python/requirement.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

const std::map<std::string, std::string> kHere = {
    {"platform_system", "Linux"}, {"platform_machine", "x86_64"}, {"python_version", "3.9"}};

bool here(std::string_view condition, const std::set<std::string>& extras = {}) {
  return condition_holds(condition, kHere, extras);
}

TEST(Requirement, NamesVersionsExtrasAndConditions) {
  Requirement one = parse_requirement("nvidia_cudnn.cu12 (==9.1.0.70) ; platform_system == "
                                      "\"Linux\" and python_version < \"3.13\"");
  EXPECT_EQ(one.name, "nvidia-cudnn-cu12");
  EXPECT_EQ(one.versions, "==9.1.0.70");
  EXPECT_EQ(one.condition, "platform_system == \"Linux\" and python_version < \"3.13\"");
  Requirement two = parse_requirement("cuda-toolkit[cublas, cudart]==13.2.2");
  EXPECT_EQ(two.extras, (std::vector<std::string>{"cublas", "cudart"}));
  EXPECT_EQ(two.versions, "==13.2.2");
  EXPECT_EQ(two.condition, "");
  EXPECT_EQ(parse_requirement("cuda-bindings<14,>=13.0.3").versions, "<14,>=13.0.3");
  EXPECT_EQ(parse_requirement("triton @ https://host/x.whl").versions, "");
  EXPECT_EQ(parse_requirement("torch[").name, "torch");
  EXPECT_EQ(parse_requirement("").name, "");
}

TEST(Requirement, Conditions) {
  EXPECT_TRUE(here(""));
  EXPECT_TRUE(here("platform_system == 'Linux' and platform_machine == 'x86_64'"));
  EXPECT_FALSE(here("platform_machine == \"aarch64\""));
  EXPECT_TRUE(here("'x86_64' == platform_machine"));
  EXPECT_TRUE(here("python_version < '3.13'")); // by number, not by letter
  EXPECT_FALSE(here("python_version >= '3.10'"));
  EXPECT_TRUE(here("platform_machine in 'x86_64 AMD64'"));
  EXPECT_FALSE(here("platform_machine not in 'x86_64 AMD64'"));
  EXPECT_TRUE(here("platform_release >= '5'")); // not known: counts
}

TEST(Requirement, AndBindsTighterThanOr) {
  const std::string yes = "platform_system == 'Linux'", no = "platform_system == 'Windows'";
  EXPECT_TRUE(here(yes + " or " + yes + " and " + no));
  EXPECT_FALSE(here("(" + yes + " or " + yes + ") and " + no));
  EXPECT_TRUE(here(no + " and " + no + " or " + yes));
  EXPECT_FALSE(here(no + " and (" + no + " or " + yes + ")"));
}

TEST(Requirement, ExtrasCountOnlyWhenAskedFor) {
  EXPECT_FALSE(here("extra == 'cudart'"));
  EXPECT_TRUE(here("extra == 'cudart'", {"cudart"}));
  EXPECT_FALSE(here("extra == 'cudart' and platform_system == 'Windows'", {"cudart"}));
}

TEST(Requirement, NonsenseCounts) {
  for (const char* text : {"(", ")", "and", "python_version", "python_version <", "'a' 'b' 'c' 'd'",
                           "extra not", "(((((", "platform_system == 'Linux' and"})
    EXPECT_TRUE(here(text)) << text;
}

TEST(GpuPackages, Names) {
  for (const char* name : {"torch", "nvidia-nccl-cu12", "flash-attn-3", "jax-cuda12-plugin",
                           "cupy-cuda12x", "onnxruntime-gpu", "tf-nightly", "cuda-version",
                           "pytorch-cuda", "tensorflow", "numba-cuda", "xformers"})
    EXPECT_TRUE(is_gpu_package(name)) << name;
  for (const char* name : {"numpy", "torchmetrics", "jaxtyping", "tensorflow-datasets", "", "nv",
                           "tensorflow-io", "triton-client"})
    EXPECT_FALSE(is_gpu_package(name)) << name;
}

TEST(GpuPackages, PlacesOfCode) {
  ASSERT_EQ(code_places("jax-cuda12-pjrt").size(), 1u);
  EXPECT_EQ(code_places("jax-cuda12-pjrt")[0].files, "xla_cuda_plugin.so");
  EXPECT_TRUE(code_places("jax-cuda12-plugin").empty());
  EXPECT_EQ(code_places("torch").size(), 2u);
  EXPECT_TRUE(code_places("cupy-cuda12x").empty());
}

} // namespace
} // namespace gpuvet
