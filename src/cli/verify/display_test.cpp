#include "cli/verify/display.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

StepNews news() {
  return {.step = "gemm", .fraction = 0.5, .name = "rate", .unit = "TFLOP/s", .value = 712.3};
}

TEST(ProgressLine, TheFigureStandsBesideItsLimit) {
  EXPECT_EQ(progress_line(0.5, "GPU 0", news(), 989, 79),
            "[############------------] gemm  GPU 0  712.3 of 989 TFLOP/s");
  EXPECT_EQ(progress_line(0, "", news(), {}, 79), "[------------------------] gemm  712.3 TFLOP/s");
}

TEST(ProgressLine, IsCutAtTheScreensWidthAndNeverFull) {
  EXPECT_EQ(progress_line(7, "GPU 0", news(), 989, 32), "[#######################-] gemm ");
}

} // namespace
} // namespace gpuvet
