#include "gpu/kernels/kernels.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

const KernelImage* image(std::string_view blob, std::string_view kind) {
  for (const KernelImage& image : kernel_images())
    if (image.blob == blob && image.kind == kind) return &image;
  return nullptr;
}

bool has(const KernelImage& image, const std::string& line) {
  return image.bytes.find("\n" + line) != std::string_view::npos;
}

TEST(KernelImages, AreWholeAndSayWhatTheyAreFor) {
  ASSERT_FALSE(kernel_images().empty());
  for (const KernelImage& image : kernel_images()) {
    SCOPED_TRACE(image.blob);
    EXPECT_GE(image.sm, 52u);
    ASSERT_GT(image.bytes.size(), 64u);
    if (image.kind == "ptx") {
      EXPECT_EQ(image.bytes.data()[image.bytes.size()], '\0') << "the driver reads up to a zero";
      EXPECT_EQ(image.bytes.find('\0'), std::string_view::npos);
      EXPECT_EQ(image.bytes.substr(0, 3), "// ");
      EXPECT_EQ(image.bytes.substr(image.bytes.size() - 2, 1), "\n");
      EXPECT_TRUE(has(image, ".address_size 64\n"));
    } else {
      EXPECT_EQ(image.kind, "cubin");
      EXPECT_EQ(image.bytes.substr(0, 4), "\x7F"
                                          "ELF");
    }
  }
}

TEST(KernelImages, CoreRunsOnEveryGpuSinceMaxwell) {
  const KernelImage* core = image("core", "ptx");
  ASSERT_TRUE(core);
  EXPECT_TRUE(has(*core, ".version 6.0\n"));
  EXPECT_TRUE(has(*core, ".target sm_52\n"));
  EXPECT_EQ(core->sm, 52u);
  EXPECT_FALSE(core->exact);
}

TEST(KernelImages, CoreHasEveryKernel) {
  const KernelImage* core = image("core", "ptx");
  ASSERT_TRUE(core);
  for (const char* kernel : {"gv_null",         "gv_null8",         "gv_mark",
                             "gv_fill",         "gv_check",         "gv_check_then_flip",
                             "gv_pattern",      "gv_check_pattern", "gv_modulo",
                             "gv_check_modulo", "gv_read",          "gv_write",
                             "gv_copy",         "gv_triad",         "gv_chase",
                             "gv_gate",         "gv_clock",         "gv_step",
                             "gv_atomic_add",   "gv_flip",          "gv_operands",
                             "gv_tile_hash",    "gv_golden_tiles",  "gv_compare_hashes"})
    EXPECT_TRUE(has(*core, std::string(".visible .entry ") + kernel + "(")) << kernel;
}

TEST(KernelImages, GemmSm80) {
  const KernelImage* gemm = image("gemm_sm80", "ptx");
  ASSERT_TRUE(gemm);
  EXPECT_TRUE(has(*gemm, ".version 7.0\n"));
  EXPECT_TRUE(has(*gemm, ".target sm_80\n"));
  EXPECT_EQ(gemm->sm, 80u);
  EXPECT_FALSE(gemm->exact);
  for (const char* line : {".visible .entry gv_gemm(", ".visible .entry gv_pipe(",
                           ".visible .global .align 4 .b8 gv_gemm_shape["})
    EXPECT_TRUE(has(*gemm, line)) << line;
}

// Nothing that a thread cannot do alone: the tests on a CPU stand for the GPU only so.
TEST(KernelImages, CoreHasNoBarrierShuffleOrSharedMemory) {
  const KernelImage* core = image("core", "ptx");
  ASSERT_TRUE(core);
  for (const char* word : {"bar.", "barrier", "shfl", ".shared", "vote", "activemask"})
    EXPECT_EQ(core->bytes.find(word), std::string_view::npos) << word;
}

} // namespace
} // namespace gpuvet
