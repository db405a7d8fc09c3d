#include "cli/verify/schedule.hpp"
#include "facts/facts.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

const VerifyTables& tables() {
  static const Facts facts;
  static const VerifyTables read = **facts.verify();
  return read;
}

TEST(Schedule, WhatIsGivenIsUsedAndNotMore) {
  for (size_t gpus : {1u, 2u, 8u})
    for (double seconds : {120.0, 600.0, 3600.0}) {
      const RunSize size{.seconds = seconds, .gpus = gpus, .pairs = gpus * (gpus - 1)};
      double at_once = 0;
      for (const char* step : {"gemm", "gemm-library", "convolution", "memory-patterns", "pulse"})
        at_once += seconds_of(plan_times(tables(), size), step);
      EXPECT_LT(at_once, seconds - 20) << gpus << " GPUs, " << seconds << " s";
      EXPECT_GT(at_once, gpus == 1 ? seconds / 2 : 15) << gpus << " GPUs, " << seconds << " s";
    }
}

TEST(Schedule, PairsOfEightGpusStayWithinHalfAMinute) {
  const RunSize size{.gpus = 8, .pairs = 56};
  const auto times = plan_times(tables(), size);
  EXPECT_LE((seconds_of(times, "peer-copy") + seconds_of(times, "peer-check") +
             seconds_of(times, "peer-latency")) *
                56,
            40);
}

TEST(Schedule, QuickLeavesOutWhatIsLong) {
  const auto times = plan_times(tables(), {.quick = true});
  EXPECT_EQ(seconds_of(times, "pulse"), 0);
  EXPECT_GT(seconds_of(times, "gemm"), 0);
  double all = 0;
  for (const StepTime& time : times)
    all += time.step == "all-reduce" || time.step == "copy-all-gpus" ? 0 : time.seconds;
  EXPECT_LT(all, 14); // of 20, with what has to start
}

TEST(Schedule, TooLittleTimeStillGivesTheShortestRun) {
  const auto times = plan_times(tables(), {.seconds = 1});
  EXPECT_EQ(seconds_of(times, "gemm"), 5);
  EXPECT_EQ(seconds_of(times, "no such step"), 0);
}

} // namespace
} // namespace gpuvet
