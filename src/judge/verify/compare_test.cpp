#include "judge/verify/testing/runs.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::healthy;

Report compare(const Measurements& before, const Measurements& now) {
  return compare_runs(before, now, testing::tables(), testing::facts());
}

// The cells of the row with this title; empty: there is none.
std::vector<std::string> row_of(const Report& report, const std::string& title) {
  for (const Table& table : report.tables)
    for (const auto& row : table.rows) {
      if (row.front().text != title) continue;
      std::vector<std::string> texts;
      for (const Cell& cell : row)
        texts.push_back(cell.text);
      return texts;
    }
  return {};
}

bool is_told(const Report& report, const std::string& words) {
  for (const Finding& finding : report.findings)
    for (const std::string& line : finding.evidence)
      if (line.find(words) != std::string::npos) return true;
  return false;
}

TEST(VerifyCompare, TheSameRunIsAlike) {
  const Measurements run = healthy({}, 2).run;
  const Report report = compare(run, run);
  EXPECT_EQ(report.state, State::ok);
  EXPECT_EQ(report.verdict.rfind("Alike: ", 0), 0U) << report.verdict;
  EXPECT_TRUE(report.findings.empty());
}

TEST(VerifyCompare, ASlowerCopyIsBeyondItsNoise) {
  const Measurements before = healthy().run;
  testing::RunMaker now = healthy();
  for (double& rate : now.step("copy-to-gpu").readings["rate"].samples)
    rate *= 0.9;
  const Report report = compare(before, now.run);
  EXPECT_EQ(report.state, State::warning);
  const auto row = row_of(report, "copy to GPU");
  ASSERT_EQ(row.size(), 7U);
  EXPECT_EQ(row[4], "-10.0 %");
  EXPECT_EQ(row[6], "slower");
  const Report back = compare(now.run, before);
  EXPECT_EQ(back.state, State::ok);
  EXPECT_EQ(row_of(back, "copy to GPU").back(), "faster");
}

TEST(VerifyCompare, ALongerLatencyIsSlower) {
  const Measurements before = healthy().run;
  testing::RunMaker now = healthy();
  now.step("launch").readings["gap_us"].samples = {5, 5.1, 5};
  EXPECT_EQ(row_of(compare(before, now.run), "launch: kernel to kernel, gap_us").back(), "slower");
}

// Samples that scatter as widely as the two differ say nothing.
TEST(VerifyCompare, NoiseIsNoChange) {
  testing::RunMaker before = healthy(), now = healthy();
  before.step("copy-to-gpu").readings["rate"].samples = {40, 60, 50, 45, 55};
  now.step("copy-to-gpu").readings["rate"].samples = {36, 54, 45, 40.5, 49.5};
  const auto row = row_of(compare(before.run, now.run), "copy to GPU");
  ASSERT_EQ(row.size(), 7U);
  EXPECT_EQ(row[4], "-10.0 %");
  EXPECT_EQ(row[6], "");
}

TEST(VerifyCompare, WhatChangedAroundIsTold) {
  const Measurements before = healthy().run;
  testing::RunMaker now = healthy();
  now.run.driver = "585.10";
  now.run.gpus[0].numbers["power_limit_w"] = 500;
  for (GpuMoment& moment : now.run.gpus[0].moments) {
    moment.sm_clock_mhz = 1000;
    moment.link_width = 8;
  }
  const Report report = compare(before, now.run);
  EXPECT_TRUE(is_told(report, "driver: 580.65.06 before, 585.10 now"));
  EXPECT_TRUE(is_told(report, "power limit: 700 W before, 500 W now"));
  EXPECT_TRUE(is_told(report, "clock under load"));
  EXPECT_TRUE(is_told(report, "PCIe 5.0 x16 before, PCIe 5.0 x8 now"));
}

// Another machine of the same kind: by place and name.
TEST(VerifyCompare, OtherCardsOfTheSameKind) {
  const Measurements before = healthy({}, 2).run;
  Measurements now = before;
  const auto renamed = [](std::string uuid) {
    return uuid.empty() ? uuid : "GPU-f" + uuid.substr(5);
  };
  for (VerifiedGpu& gpu : now.gpus)
    gpu.uuid = renamed(gpu.uuid);
  for (StepResult& step : now.steps) {
    step.gpu = renamed(step.gpu);
    step.peer = renamed(step.peer);
  }
  const Report report = compare(before, now);
  EXPECT_EQ(report.state, State::ok) << report.verdict;
  EXPECT_TRUE(is_told(report, "is another card"));
}

TEST(VerifyCompare, NothingInCommon) {
  const Report report = compare(healthy().run, {});
  EXPECT_EQ(report.state, State::unknown);
  EXPECT_TRUE(is_told(report, "is not in the run now"));
}

} // namespace
} // namespace gpuvet
