// The stress tests on the fake GPU: what they measure when all is well, and that they find what is
// wrong.
#include "gpu/testing/steps.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

StepResult run_step(const char* id, const std::string& words, double seconds = 0.1,
                    Fault fault = Fault::none, uint64_t seed = 7) {
  StepOptions options;
  options.seconds = seconds;
  options.seed = seed;
  options.fault = fault;
  return run_on_fake(stress_steps(), id, words, options);
}

TEST(Launch, TellsThreeTimes) {
  StepResult result = run_step("launch", "launch_us=2.5");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_GE(samples(result, "submit_us").size(), 2u);
  EXPECT_GE(samples(result, "round_trip_us").size(), 2u);
  EXPECT_NEAR(last(result, "gap_us"), 2.5, 0.01);
  EXPECT_EQ(result.readings["gap_us"].unit, "us");
}

// Where others compute, each launch waits for its turn: then few samples have to do.
TEST(Launch, EndsWithItsTime) {
  StepOptions none;
  none.seconds = 0;
  StepResult result = run_on_fake(stress_steps(), "launch", "launch_us=2.5", none);
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(samples(result, "submit_us").size(), 2u);
  EXPECT_EQ(samples(result, "round_trip_us").size(), 2u);
  EXPECT_EQ(samples(result, "gap_us").size(), 3u);
}

TEST(Graph, ReplaysFasterThanItLaunches) {
  StepResult result = run_step("graph", "launch_us=2.5,node_us=1.25,free=2");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_NEAR(last(result, "node_us"), 1.25, 0.01);
  EXPECT_GE(last(result, "launch_us"), 0);
  EXPECT_GT(last(result, "step_launched_ms"), last(result, "step_graph_ms"));
  EXPECT_GE(last(result, "instantiate_ms"), 0);
}

TEST(PipeRate, IsFlopsPerClock) {
  StepResult result = run_step("pipe-rate", "sm_mhz=1755");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_NEAR(last(result, "flop_per_clock"), 4096, 5);
  EXPECT_NEAR(last(result, "sm_clock"), 1755, 5);
  EXPECT_EQ(result.words["engine"], "own kernel sm_90a");
}

TEST(PipeRate, IsNotForGpusWithoutOurKernel) {
  StepResult result = run_step("pipe-rate", "sm=75");
  EXPECT_EQ(result.state, StepState::unsupported);
  EXPECT_TRUE(says(result, "7.5")) << result.reason;
}

TEST(Gemm, IsRightAndTellsItsRate) {
  StepResult result = run_step("gemm", "free=2,tflops=0.002,sm_mhz=1755,launch_us=0");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(last(result, "mismatches"), 0);
  EXPECT_GE(last(result, "checked"), 4);
  EXPECT_NEAR(last(result, "rate"), 0.002, 2e-5);
  EXPECT_NEAR(last(result, "sm_clock"), 1755, 5);
  EXPECT_EQ(samples(result, "overhead").size(), 1u);
  EXPECT_TRUE(result.words["engine"].starts_with("own kernel sm_90a")) << result.words["engine"];
  EXPECT_EQ(result.words["shape"], "256 x 256 x 256");
  EXPECT_EQ(result.words["pattern"], "bf16 integers from -256 to 256");
  EXPECT_EQ(result.words["golden"], "2 of 2 tiles of the result proved by integer arithmetic");
}

TEST(Gemm, FindsABitThatFlippedInTheResult) {
  StepResult result = run_step("gemm", "free=2,tflops=0.002", 0.1, Fault::wrong_bit);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "was right when it left the multiprocessor")) << result.reason;
  EXPECT_TRUE(says(result, "1 word of 4 bytes")) << result.reason;
  EXPECT_TRUE(says(result, "the fault comes and goes")) << result.reason;
  EXPECT_EQ(last(result, "mismatches"), 1);
  EXPECT_NE(result.words["bits"], "");
}

TEST(Gemm, FindsEveryPlantedBit) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    StepResult result = run_step("gemm", "free=2,tflops=0.002", 0, Fault::wrong_bit, seed);
    EXPECT_EQ(result.state, StepState::failed) << seed;
    EXPECT_TRUE(says(result, "1 word of 4 bytes")) << result.reason;
  }
}

TEST(Gemm, FindsAKernelThatIsWrongAndSaysWhere) {
  StepResult result = run_step("gemm", "free=2,tflops=0.002,corrupt=gv_gemm_tma");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "was wrong when it left")) << result.reason;
  EXPECT_TRUE(says(result, "wrong 8 of 8 times")) << result.reason;
  EXPECT_TRUE(says(result, "on multiprocessor")) << result.reason;
}

TEST(Gemm, FindsACheckerThatIsWrong) {
  StepResult result = run_step("gemm", "free=2,tflops=0.002,corrupt=gv_operands");
  EXPECT_EQ(result.state, StepState::failed) << "operands are not what the CPU computes";
  EXPECT_FALSE(result.reason.empty());
}

TEST(Gemm, RunsOnAmpereAndNewer) {
  for (const char* sm : {"80", "120"}) {
    StepResult result = run_step("gemm", std::string("free=2,tflops=0.002,sm=") + sm);
    ASSERT_EQ(result.state, StepState::done) << sm << ": " << result.reason;
    EXPECT_EQ(result.words["engine"], "own kernel sm_80");
  }
}

TEST(Gemm, DoesNotPassWithoutMemory) {
  StepResult result = run_step("gemm", "free=0.3");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "free")) << result.reason;
}

TEST(Gemm, IsNotForGpusWithoutOurKernel) {
  StepResult result = run_step("gemm", "sm=75");
  EXPECT_EQ(result.state, StepState::unsupported);
  EXPECT_TRUE(says(result, "compute capability 8.0")) << result.reason;
}

TEST(MemoryPatterns, ChecksWhatIsFree) {
  StepResult result = run_step("memory-patterns", "free=8");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(last(result, "mismatches"), 0);
  EXPECT_EQ(last(result, "checked"), 2 << 20) << "half of 8 MB, in whole pieces of 2 MiB";
  EXPECT_EQ(last(result, "chunks_refused"), 0);
  EXPECT_GT(last(result, "rate"), 1);
}

TEST(MemoryPatterns, FindsABit) {
  StepResult result = run_step("memory-patterns", "free=8", 0.1, Fault::wrong_bit);
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "a value for each address")) << result.reason;
  EXPECT_EQ(last(result, "mismatches"), 1);
  EXPECT_NE(result.words["first_place"], "");
  EXPECT_NE(result.words["bits"], "");
}

TEST(MemoryPatterns, FindsWrongPatterns) {
  for (const char* kernel : {"gv_fill", "gv_pattern", "gv_modulo"}) {
    StepResult result = run_step("memory-patterns", std::string("free=8,corrupt=") + kernel);
    EXPECT_EQ(result.state, StepState::failed) << kernel;
  }
}

TEST(MemoryPatterns, NeverPassesWhatWasRefused) {
  StepResult result = run_step("memory-patterns", "free=8,error=cuMemAlloc_v2:2");
  EXPECT_NE(result.state, StepState::done);
  EXPECT_FALSE(result.reason.empty());
}

TEST(Pulse, ChecksEveryBurst) {
  StepResult result = run_step("pulse", "free=2,tflops=0.002");
  ASSERT_EQ(result.state, StepState::done) << result.reason;
  EXPECT_EQ(samples(result, "rate").size(), 3u);
  EXPECT_EQ(last(result, "mismatches"), 0);
  EXPECT_GT(last(result, "checked"), 0);
}

TEST(Pulse, FindsABit) {
  StepResult result = run_step("pulse", "free=2,tflops=0.002,corrupt=gv_gemm_tma");
  EXPECT_EQ(result.state, StepState::failed);
}

} // namespace
} // namespace gpuvet
