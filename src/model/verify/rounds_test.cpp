#include "model/verify/rounds.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

StepResult round(const char* id, StepState state, double sample, double begin_s) {
  StepResult made;
  made.id = id;
  made.gpu = "GPU-1";
  made.state = state;
  made.begin_s = begin_s;
  made.end_s = begin_s + 10;
  made.readings["rate"] = {"TFLOP/s", {sample}};
  if (state != StepState::done) made.reason = "round at " + std::to_string(int(begin_s));
  return made;
}

TEST(Rounds, SamplesFollowEachOtherAndOthersStayApart) {
  Measurements measured;
  measured.steps = {round("gemm", StepState::done, 1, 0), round("pulse", StepState::done, 5, 10),
                    round("gemm", StepState::done, 2, 20)};
  join_rounds(measured);
  ASSERT_EQ(measured.steps.size(), 2u);
  EXPECT_EQ(measured.steps[0].id, "gemm");
  EXPECT_EQ(measured.steps[0].readings["rate"].samples, (std::vector<double>{1, 2}));
  EXPECT_EQ(measured.steps[0].begin_s, 0);
  EXPECT_EQ(measured.steps[0].end_s, 30);
  EXPECT_EQ(measured.steps[0].words["rounds"], "2");
  EXPECT_FALSE(measured.steps[1].words.contains("rounds"));
}

TEST(Rounds, OneBadRoundIsBad) {
  for (StepState bad : {StepState::failed, StepState::hung, StepState::crashed}) {
    Measurements measured;
    measured.steps = {round("gemm", StepState::done, 1, 0), round("gemm", bad, 2, 20),
                      round("gemm", StepState::done, 3, 40), round("gemm", bad, 4, 60)};
    join_rounds(measured);
    ASSERT_EQ(measured.steps.size(), 1u);
    EXPECT_EQ(measured.steps[0].state, bad);
    EXPECT_EQ(measured.steps[0].reason, "round at 20");
    EXPECT_EQ(measured.steps[0].readings["rate"].samples.size(), 4u);
  }
}

TEST(Rounds, WhatWasNotRunIsForgottenWhereAnotherRoundWas) {
  Measurements measured;
  measured.steps = {round("gemm", StepState::not_run, 0, 0), round("gemm", StepState::done, 3, 20),
                    round("gemm", StepState::not_run, 0, 40)};
  for (StepResult& step : measured.steps)
    if (step.state == StepState::not_run) step.readings.clear();
  join_rounds(measured);
  ASSERT_EQ(measured.steps.size(), 1u);
  EXPECT_EQ(measured.steps[0].state, StepState::done);
  EXPECT_EQ(measured.steps[0].readings["rate"].samples, std::vector<double>{3});
}

} // namespace
} // namespace gpuvet
