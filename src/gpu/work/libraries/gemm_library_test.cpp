// cuBLASLt under load, on the fake GPU and with a fake cuBLASLt.
#include "gpu/testing/fakes.hpp"
#include "gpu/testing/steps.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

constexpr const char* kGpu = "free=2,tflops=0.002";

StepResult run_library(const char* id, const std::string& library, Fault fault = Fault::none,
                       const std::string& gpu = kGpu) {
  Steered steered("GPUVET_FAKE_CUBLASLT", library);
  StepOptions options;
  options.seconds = 0.1;
  options.fault = fault;
  options.libraries.cublaslt = fake("libraries", "libcublasLt.so.13");
  return run_on_fake(library_steps(), id, gpu, options);
}

TEST(GemmLibrary, IsRightAndKeepsTheFastestChoice) {
  StepResult result = run_library("gemm-library", "tflops=0.002");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(result.words["engine"], "cuBLASLt 13.1.0");
  EXPECT_EQ(result.words["choice"], "1 of 3");
  EXPECT_EQ(result.words["library"], fake("libraries", "libcublasLt.so.13"));
  EXPECT_EQ(last(result, "mismatches"), 0);
  EXPECT_GE(last(result, "checked"), 2);
  EXPECT_NEAR(last(result, "rate"), 0.002, 2e-5);
}

TEST(GemmLibrary, FindsAnyChoiceThatIsWrong) {
  StepResult result = run_library("gemm-library", "tflops=0.002,wrong=2");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "a product by cuBLASLt 13.1.0 is wrong in memory")) << result.reason;
  EXPECT_TRUE(says(result, "wrong 8 of 8 times")) << result.reason;
}

TEST(GemmLibrary, FindsWhatGoesWrongLater) {
  StepResult result = run_library("gemm-library", "tflops=0.002,choices=1,spoil=12");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(last(result, "mismatches"), 1);
  EXPECT_TRUE(says(result, "is wrong in memory")) << result.reason;
}

TEST(GemmLibrary, FindsABitThatFlippedInTheResult) {
  StepResult result = run_library("gemm-library", "tflops=0.002", Fault::wrong_bit);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "1 word of 4 bytes")) << result.reason;
  EXPECT_TRUE(says(result, "the fault comes and goes")) << result.reason;
}

TEST(GemmLibrary, SaysWhyItCannot) {
  StepResult result = run_library("gemm-library", "choices=0");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "knows no way to multiply")) << result.reason;

  result = run_library("gemm-library", "error=cublasLtCreate:1");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.call, "cublasLtCreate");
  EXPECT_EQ(result.code, 1);

  result = run_library("gemm-library", "", Fault::none, "sm=75");
  EXPECT_EQ(result.state, StepState::unsupported);
}

TEST(GemmLibrary, NeedsTheLibrary) {
  StepOptions options;
  StepResult result = run_on_fake(library_steps(), "gemm-library", kGpu, options);
  EXPECT_EQ(result.state, StepState::unsupported);
  EXPECT_TRUE(says(result, "no cuBLASLt was found")) << result.reason;

  options.libraries.cublaslt = "/nowhere/libcublasLt.so.13";
  result = run_on_fake(library_steps(), "gemm-library", kGpu, options);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "/nowhere/libcublasLt.so.13")) << result.reason;

  options.libraries.cublaslt = fake("current", "libcuda.so.1");
  result = run_on_fake(library_steps(), "gemm-library", kGpu, options);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "has no function cublasLtCreate")) << result.reason;
}

TEST(LibraryCublasLt, TellsAWrongLibraryFromAWrongGpu) {
  StepResult result = run_library("library-cublaslt", "");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(last(result, "mismatches"), 0);
  EXPECT_EQ(result.words["own_kernel"], "right");
  EXPECT_EQ(result.words["version"], "13.1.0");
  EXPECT_GE(last(result, "load_s"), 0);

  result = run_library("library-cublaslt", "wrong=all");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(last(result, "mismatches"), 1);
  EXPECT_EQ(result.words["own_kernel"], "right");

  result =
      run_library("library-cublaslt", "", Fault::none, std::string(kGpu) + ",corrupt=gv_gemm_tma");
  EXPECT_EQ(result.words["own_kernel"], "wrong");
}

} // namespace
} // namespace gpuvet
