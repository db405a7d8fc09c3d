#include "gpu/work/images.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

const std::vector<KernelImage> kImages = {
    {"core", "ptx", 52, false, ""},    {"gemm", "ptx", 80, false, ""},
    {"gemm", "cubin", 80, false, ""},  {"gemm", "cubin", 86, false, ""},
    {"hopper", "cubin", 90, true, ""}, {"hopper", "ptx", 90, true, ""},
};

std::vector<std::string> chosen(std::string_view blob, uint32_t sm) {
  std::vector<std::string> names;
  for (const KernelImage& image : images_for(kImages, blob, sm))
    names.push_back(std::string(image.kind) + std::to_string(image.sm));
  return names;
}

using Names = std::vector<std::string>;

TEST(Images, PtxFirstAndMachineCodeWhereThereIsNoCompiler) {
  EXPECT_EQ(chosen("core", 75), (Names{"ptx52"}));
  EXPECT_EQ(chosen("core", 121), (Names{"ptx52"}));
  EXPECT_EQ(chosen("gemm", 80), (Names{"ptx80", "cubin80"}));
  EXPECT_EQ(chosen("gemm", 86), (Names{"ptx80", "cubin86", "cubin80"}));
  EXPECT_EQ(chosen("gemm", 90), (Names{"ptx80"})); // machine code is for its generation
  EXPECT_EQ(chosen("hopper", 90), (Names{"cubin90", "ptx90"})); // made for this one
}

TEST(Images, OursAreMachineCodeForEachGenerationThatTheToolkitKnows) {
  for (uint32_t sm : {75u, 80u, 86u, 89u, 90u, 100u, 103u, 120u, 121u})
    EXPECT_EQ(images_for(kernel_images(), "core", sm).back().kind, "cubin") << sm;
  EXPECT_EQ(images_for(kernel_images(), "gemm_sm80", 86).back().kind, "cubin");
  EXPECT_EQ(images_for(kernel_images(), "core", 70).back().kind, "ptx");
}

TEST(Images, WhatCannotRunIsNotChosen) {
  EXPECT_EQ(chosen("core", 50), Names());
  EXPECT_EQ(chosen("gemm", 75), Names());
  EXPECT_EQ(chosen("hopper", 100), Names()); // 90a is for 9.0 alone
  EXPECT_EQ(chosen("nothing", 90), Names());
}

TEST(Images, SaysWhyNoneFits) {
  EXPECT_EQ(why_no_image(kImages, "hopper", 80),
            "the kernels hopper are for compute capability 9.0 alone; this GPU has 8.0");
  EXPECT_EQ(why_no_image(kImages, "gemm", 75),
            "the kernels gemm are for compute capability 8.0 and newer, 8.6 and newer; this GPU "
            "has 7.5");
}

TEST(Images, SaysWhyTheDriverRefused) {
  std::string why = why_not_loaded("core", 75, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", 222,
                                   "ptxas fatal\n  line 1\n");
  EXPECT_EQ(why, "the driver did not load the kernels core: CUDA_ERROR_UNSUPPORTED_PTX_VERSION "
                 "(222); their PTX is newer than this driver's compiler knows: a newer driver is "
                 "needed; its compiler says: ptxas fatal   line 1");
  EXPECT_NE(why_not_loaded("core", 75, "X", 209, "").find("compute capability 7.5"),
            std::string::npos);
}

TEST(Images, OursRunOnEveryGpu) {
  for (uint32_t sm : {52u, 75u, 80u, 90u, 121u})
    EXPECT_FALSE(images_for(kernel_images(), "core", sm).empty()) << sm;
}

} // namespace
} // namespace gpuvet
