// All-reduce on fake GPUs, with a fake NCCL.
#include "gpu/testing/steps.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

StepResult run_nccl(const char* id, const std::string& library, size_t gpus = 2,
                    Fault fault = Fault::none) {
  Steered steered("GPUVET_FAKE_NCCL", library);
  StepOptions options;
  options.fault = fault;
  options.libraries.nccl = fake("libraries", "libnccl.so.2");
  for (size_t gpu = 0; gpu < gpus; ++gpu)
    options.all.push_back(static_cast<int>(gpu));
  return run_on_fake(library_steps(), id, "gpus=4,free=10", options);
}

TEST(AllReduce, IsRightAndTellsItsRate) {
  for (size_t gpus : {2u, 4u}) {
    StepResult result = run_nccl("all-reduce", "bus=300", gpus);
    ASSERT_EQ(result.state, StepState::done) << result.reason;
    EXPECT_EQ(last(result, "mismatches"), 0);
    EXPECT_NEAR(last(result, "bus"), 300, 1);
    EXPECT_EQ(result.words["version"], "2.28.9");
    EXPECT_NE(result.words["sizes"].find("2097152 B: 300.00"), std::string::npos)
        << result.words["sizes"];
  }
}

TEST(AllReduce, FindsTheRankThatIsWrong) {
  StepResult result = run_nccl("all-reduce", "wrong=1");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "is wrong on 1 of 2 GPUs")) << result.reason;

  result = run_nccl("all-reduce", "", 2, Fault::wrong_bit);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(last(result, "mismatches"), 1);
}

TEST(AllReduce, SaysWhyItCannot) {
  StepResult result = run_nccl("all-reduce", "", 1);
  EXPECT_EQ(result.state, StepState::unsupported);

  result = run_nccl("all-reduce", "async=6");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "an error of a fake")) << result.reason;
}

TEST(LibraryNccl, WorksOnOneGpu) {
  StepResult result = run_nccl("library-nccl", "", 1);
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(result.words["own_kernel"], "right");

  result = run_nccl("library-nccl", "wrong=0", 1);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_EQ(result.words["own_kernel"], "right");
}

} // namespace
} // namespace gpuvet
