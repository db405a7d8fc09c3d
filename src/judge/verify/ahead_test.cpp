#include "judge/verify/ahead.hpp"
#include "judge/verify/testing/runs.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::facts;
using testing::healthy;
using testing::tables;
using testing::uuid_of;

LimitsAhead ahead_of(Measurements run) {
  run.steps.clear(); // nothing has run
  for (VerifiedGpu& gpu : run.gpus)
    gpu.moments.clear();
  return limits_ahead(run, tables(), facts());
}

TEST(LimitsAhead, AreWhatTheCardSaysOfItself) {
  const LimitsAhead found = ahead_of(healthy({}, 2).run);
  for (int ordinal : {0, 1}) {
    const auto of = [&](const char* step) { return found.at({step, uuid_of(ordinal)}); };
    EXPECT_NEAR(of("copy-to-gpu").value, 63.0, 0.1);
    EXPECT_EQ(of("copy-to-gpu").unit, "GB/s");
    EXPECT_NEAR(of("memory-bandwidth").value, 4916.7, 0.1);
    EXPECT_NEAR(of("gemm").value, 989, 1); // the clock under load is not known yet
    EXPECT_EQ(of("gemm").unit, "TFLOP/s");
  }
  EXPECT_FALSE(found.contains({"launch", uuid_of(0)}));
}

TEST(LimitsAhead, WhatIsNotKnownIsLeftOut) {
  Measurements run = healthy().run;
  run.gpus[0].name = "NVIDIA Unheard Of";
  run.gpus[0].numbers.clear();
  const LimitsAhead found = ahead_of(run);
  EXPECT_FALSE(found.contains({"copy-to-gpu", uuid_of(0)}));
  EXPECT_FALSE(found.contains({"memory-bandwidth", uuid_of(0)}));
}

TEST(LimitsAhead, AWholeGpusMemoryIsNoLimitOfAPart) {
  Measurements run = healthy().run;
  run.gpus[0].words["mig"] = "part";
  EXPECT_FALSE(ahead_of(run).contains({"memory-bandwidth", uuid_of(0)}));
}

} // namespace
} // namespace gpuvet
