#include "gpu/testing/steps.hpp"
#include "gpu/work/self_test/self_test.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

std::vector<StepResult> run(const std::string& words, bool thorough = false,
                            RunnerOptions options = fake_runner()) {
  Steered steered("GPUVET_FAKE_CUDA", words);
  SelfTest test;
  test.gpu = "GPU-1";
  test.thorough = thorough;
  return run_self_tests(test, options);
}

double number(const StepResult& result, const char* reading) {
  auto found = result.readings.find(reading);
  return found == result.readings.end() ? -1 : found->second.samples.at(0);
}

TEST(SelfTest, EachFaultIsFound) {
  RunnerOptions options = fake_runner();
  std::vector<std::string> told;
  options.finished = [&](const StepResult& result) {
    EXPECT_EQ(result.state, StepState::done) << result.id;
    told.push_back(result.id);
  };
  auto results = run("", false, options);
  ASSERT_EQ(results.size(), 3u);
  for (const StepResult& result : results) {
    EXPECT_EQ(result.state, StepState::done) << result.id << ": " << result.reason;
    EXPECT_GE(number(result, "caught"), 1) << result.id;
    EXPECT_EQ(number(result, "caught"), number(result, "trials")) << result.id;
    EXPECT_EQ(result.gpu, "GPU-1");
  }
  EXPECT_EQ(number(results[0], "trials"), 3);
  EXPECT_EQ(told, (std::vector<std::string>{"self-test-bit", "self-test-link", "self-test-hang"}));
}

TEST(SelfTest, TheLongFormPlantsAHundredBits) {
  auto results = run("", true);
  EXPECT_EQ(results.at(0).state, StepState::done) << results[0].reason;
  EXPECT_EQ(number(results[0], "caught"), 100);
  EXPECT_EQ(number(results[0], "trials"), 100);
  EXPECT_EQ(number(results[1], "trials"), 20);
}

TEST(SelfTest, ACheckerThatSeesWhatIsNotThereFails) {
  auto results = run("corrupt=gv_fill");
  EXPECT_EQ(results.at(0).state, StepState::failed);
  EXPECT_TRUE(results[0].reason.starts_with("before anything was planted: 1 word"))
      << results[0].reason;
  EXPECT_EQ(results[1].state, StepState::done) << results[1].reason; // costs only itself
  EXPECT_EQ(results[2].state, StepState::done) << results[2].reason;
}

TEST(SelfTest, ABitThatIsFoundElsewhereIsNotFound) {
  auto results = run("corrupt=gv_flip"); // a second wrong bit
  EXPECT_EQ(results.at(0).state, StepState::failed);
  EXPECT_EQ(number(results[0], "caught"), 0);
  EXPECT_NE(results[0].reason.find("missed 3 of 3 planted bits"), std::string::npos)
      << results[0].reason;
}

TEST(SelfTest, AHangIsJudgedByWhatTheRunnerSaid) {
  StepResult result;
  result.id = "self-test-hang";
  result.state = StepState::hung;
  result.call = "cuStreamSynchronize";
  result.begin_s = 1;
  result.end_s = 1.6;
  EXPECT_EQ(judge_hang(result).state, StepState::done);
  EXPECT_EQ(number(judge_hang(result), "caught"), 1);
  result.call = "cuMemHostAlloc"; // hung, but not where it was planted
  EXPECT_EQ(judge_hang(result).state, StepState::failed);
  EXPECT_EQ(number(judge_hang(result), "caught"), 0);
  result.call = "cuStreamSynchronize";
  result.end_s = 60;
  EXPECT_EQ(judge_hang(result).state, StepState::failed);
  result.state = StepState::done;
  EXPECT_EQ(judge_hang(result).reason, "a step that never answers passed for one that is done");
  result.state = StepState::not_run;
  EXPECT_EQ(judge_hang(result).state, StepState::not_run);
  EXPECT_TRUE(judge_hang(result).readings.empty());
}

} // namespace
} // namespace gpuvet
