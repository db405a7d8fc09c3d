// Convolutions on the fake GPU, with a fake cuDNN.
#include "gpu/kernels/mix.hpp"
#include "gpu/testing/steps.hpp"
#include "gpu/work/libraries/cudnn.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

StepResult run_cudnn(const char* id, const std::string& library, Fault fault = Fault::none) {
  Steered steered("GPUVET_FAKE_CUDNN", library);
  StepOptions options;
  options.fault = fault;
  options.libraries.cudnn = fake("libraries", "libcudnn.so.9");
  return run_on_fake(library_steps(), id, "free=2,tflops=0.002", options);
}

// What right_output says, the slow way: every product of the sum by its place.
TEST(Convolution, TheRightOutputIsThatOfThePlainSum) {
  const ConvolutionShape shape = {2, 4, 8, 16};
  const uint32_t bound = exact_bound(shape.inner());
  auto x = [&](int image, int row, int column, int channel) {
    if (row < 0 || row > 3 || column < 0 || column > 3) return 0;
    return int_of_bf16(
        operand(static_cast<Word>(((image * 4 + row) * 4 + column) * 8 + channel), 5, bound));
  };
  for (int image = 0; image < 2; ++image)
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < 4; ++column) {
        const int filter = (row * 5 + column) % 16;
        int sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            for (int channel = 0; channel < 8; ++channel) {
              const int tap = (dy + 1) * 3 + dx + 1;
              sum += x(image, row + dy, column + dx, channel) *
                     int_of_bf16(
                         operand(static_cast<Word>((filter * 9 + tap) * 8 + channel), 6, bound));
            }
        const auto index = static_cast<uint64_t>(((image * 4 + row) * 4 + column) * 16 + filter);
        EXPECT_EQ(right_output(shape, 5, 6, index), bf16_of(static_cast<float>(sum)));
      }
}

TEST(Convolution, IsRightAndTellsItsRate) {
  StepResult result = run_cudnn("convolution", "tflops=0.5");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(last(result, "mismatches"), 0);
  EXPECT_NEAR(last(result, "rate"), 0.5, 1e-3);
  EXPECT_EQ(result.words["engine"], "cuDNN 9.19.0");
  EXPECT_EQ(result.words["library"], fake("libraries", "libcudnn.so.9"));
}

TEST(Convolution, FindsWhatIsWrong) {
  StepResult result = run_cudnn("convolution", "wrong=1");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "the CPU computed again are wrong")) << result.reason;

  result = run_cudnn("convolution", "spoil=10");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "differs from the one before it")) << result.reason;
  EXPECT_EQ(last(result, "mismatches"), 1);

  result = run_cudnn("convolution", "", Fault::wrong_bit);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(last(result, "mismatches"), 1);
}

TEST(Convolution, SaysWhyItCannot) {
  StepResult result = run_cudnn("convolution", "error=cudnnConvolutionForward:3000");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.call, "cudnnConvolutionForward");
  EXPECT_TRUE(says(result, "CUDNN_STATUS_OF_A_FAKE")) << result.reason;
}

TEST(LibraryCudnn, TellsAWrongLibraryFromAWrongGpu) {
  StepResult result = run_cudnn("library-cudnn", "version=8907");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(result.words["own_kernel"], "right");
  EXPECT_EQ(result.words["version"], "8.9.7");
  EXPECT_EQ(last(result, "mismatches"), 0);

  result = run_cudnn("library-cudnn", "wrong=1");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(last(result, "mismatches"), 1);
  EXPECT_EQ(result.words["own_kernel"], "right");
}

} // namespace
} // namespace gpuvet
