// Machines that are as they should be, and those whose figures are worth less.
#include "judge/verify/testing/runs.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::find;
using testing::healthy;
using testing::judge;

Verdict verdict_of(const VerifyReport& report, const std::string& id, int ordinal = 0) {
  const JudgedStep* step = find(report, id, ordinal);
  return step ? step->verdict : Verdict::skipped;
}

// Everything that is neither pass nor information, for the message of a failed test.
std::string open_ones(const VerifyReport& report) {
  std::string text;
  for (const JudgedStep& step : report.steps)
    if (step.verdict != Verdict::pass && step.verdict != Verdict::info)
      text += fmt::format("{} {}: {}\n", verdict_word(step.verdict), step.id, step.why);
  return text;
}

TEST(VerifyHealthy, AnH200Passes) {
  const VerifyReport report = judge(healthy().run);
  EXPECT_EQ(open_ones(report), "");
  EXPECT_EQ(report.exit_status, 0);
  EXPECT_EQ(report.report.state, State::ok);
  EXPECT_EQ(report.report.verdict.rfind("Ready: ", 0), 0U) << report.report.verdict;
}

TEST(VerifyHealthy, LimitsComeFromWhatTheHardwareSays) {
  const VerifyReport report = judge(healthy().run);
  EXPECT_NEAR(*find(report, "copy-to-gpu")->theoretical, 63.0, 0.1);
  EXPECT_NEAR(*find(report, "memory-bandwidth")->theoretical, 4916.7, 0.1);
  EXPECT_EQ(find(report, "memory-bandwidth")->reading, "write"); // the best of three
  // 132 multiprocessors at 1560 MHz, 4096 FLOP each
  EXPECT_NEAR(*find(report, "gemm-library-pipe")->theoretical, 843.4, 0.1);
  EXPECT_NEAR(*find(report, "gemm-library-delivered")->theoretical, 989, 1);
  EXPECT_FALSE(find(report, "gemm-library-delivered")->published.empty());
}

size_t width_of(const Table& table) {
  size_t sum = 0;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    size_t width = table.columns[i].title.size();
    for (const auto& row : table.rows)
      width = std::max(width, row[i].text.size());
    sum += width + (i > 0 ? 2 : 0);
  }
  return sum;
}

// Eight GPUs have no more rows than one.
TEST(VerifyHealthy, TheTableFitsTheScreen) {
  for (int gpus : {1, 8}) {
    const VerifyReport report = judge(healthy({}, gpus).run);
    EXPECT_EQ(report.exit_status, 0) << open_ones(report);
    size_t rows = 0;
    for (const Table& table : report.report.tables) {
      EXPECT_LE(width_of(table), 80U) << table.columns.front().title;
      rows += table.rows.size();
    }
    EXPECT_LT(rows, 40U);
  }
}

// 70 W hold a T4 far below its peak: that is how it works.
TEST(VerifyHealthy, ACardAtItsPowerLimitPasses) {
  const VerifyReport report = judge(healthy(testing::t4()).run);
  EXPECT_EQ(verdict_of(report, "gemm-library-delivered"), Verdict::pass) << open_ones(report);
  EXPECT_EQ(verdict_of(report, "clocks"), Verdict::pass);
  EXPECT_EQ(report.exit_status, 0) << open_ones(report);
  const auto& evidence = find(report, "gemm-library-delivered")->evidence;
  ASSERT_EQ(evidence.size(), 2U);
  EXPECT_EQ(evidence[0],
            "24 of 65 TFLOP/s (37 %) is as much as the power limit of the card leaves");
  EXPECT_NE(evidence[1].find("the power limit of the card (70 W)"), std::string::npos)
      << evidence[1];
}

// 12 of 18 links by design: as many as on the other.
TEST(VerifyHealthy, FewerLinksThanPossibleAreNoFault) {
  testing::Model model;
  model.name = "NVIDIA H100 NVL";
  testing::RunMaker made = healthy(model, 2);
  for (VerifiedGpu& gpu : made.run.gpus)
    gpu.numbers["nvlinks_active"] = 12;
  for (StepResult& step : made.run.steps)
    if (step.id == "peer-copy")
      for (auto& [name, reading] : step.readings)
        reading.samples = {256.6};
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "nvlinks"), Verdict::pass);
  EXPECT_EQ(verdict_of(report, "peer-copy"), Verdict::pass);
  EXPECT_DOUBLE_EQ(*find(report, "peer-copy")->theoretical, 300);
  made.run.gpus[1].numbers["nvlinks_active"] = 18;
  EXPECT_EQ(verdict_of(judge(made.run), "nvlinks"), Verdict::fail);
}

// Everywhere that figures are worth less, what fails on bare metal is a warning.
TEST(VerifyHealthy, BandsAreOneStepDownInMachinesThatShare) {
  auto slow = [] {
    testing::RunMaker made = healthy();
    made.step("copy-to-gpu").readings["rate"].samples = {20, 20.1, 20.2};
    made.step("copy-both-ways").readings["to_gpu"].samples = {18};
    return made;
  };
  EXPECT_EQ(verdict_of(judge(slow().run), "copy-to-gpu"), Verdict::fail);
  EXPECT_EQ(judge(slow().run).exit_status, 1);
  testing::RunMaker guest = slow();
  guest.run.host_kind = "virtual machine";
  EXPECT_EQ(verdict_of(judge(guest.run), "copy-to-gpu"), Verdict::warn);
  EXPECT_EQ(judge(guest.run).exit_status, 0);
  testing::RunMaker wsl = slow();
  wsl.run.host_kind = "wsl2";
  wsl.step("launch").readings["gap_us"].samples = {80};
  EXPECT_EQ(verdict_of(judge(wsl.run), "copy-to-gpu"), Verdict::warn);
  EXPECT_EQ(verdict_of(judge(wsl.run), "launch-gap"), Verdict::info);
  testing::RunMaker part = slow();
  part.run.gpus[0].words["mig"] = "part";
  EXPECT_EQ(verdict_of(judge(part.run), "copy-to-gpu"), Verdict::warn);
}

// A MIG instance has a share of the memory; without knowing which, slow is no verdict.
TEST(VerifyHealthy, AMigInstanceHasAShareOfTheMemory) {
  testing::RunMaker made = healthy();
  made.run.gpus[0].words["mig"] = "part";
  for (auto& [name, reading] : made.step("memory-bandwidth").readings)
    reading.samples = {600};
  EXPECT_EQ(verdict_of(judge(made.run), "memory-bandwidth"), Verdict::unknown);
  made.run.gpus[0].numbers["mig_memory_share"] = 0.125;
  EXPECT_EQ(verdict_of(judge(made.run), "memory-bandwidth"), Verdict::pass);
}

TEST(VerifyHealthy, WithoutTelemetryItIsSaid) {
  testing::RunMaker made = healthy();
  made.run.gpus[0].moments.clear();
  const VerifyReport report = judge(made.run);
  EXPECT_EQ(verdict_of(report, "pcie-link"), Verdict::unknown);
  EXPECT_EQ(verdict_of(report, "clocks"), Verdict::unknown);
  EXPECT_EQ(verdict_of(report, "copy-to-gpu"), Verdict::pass); // by the best that is possible
  EXPECT_EQ(report.exit_status, 3);
  const auto& notes = report.report.notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("NVML told neither") != std::string::npos;
  }));
  VerifyPolicy policy;
  policy.allowed_skips = {"pcie-link", "clocks"};
  EXPECT_EQ(judge(made.run, testing::tables(), policy).exit_status, 0);
}

TEST(VerifyHealthy, QuickNeedsNoLongSteps) {
  testing::RunMaker made = healthy();
  made.remove("memory-patterns");
  EXPECT_EQ(judge(made.run).exit_status, 3);
  made.run.quick = true;
  EXPECT_EQ(judge(made.run).exit_status, 0);
}

TEST(VerifyHealthy, OnlyLayersThatWereAskedAreMissed) {
  testing::RunMaker made = healthy();
  for (const char* id : {"launch", "graph", "gemm", "gemm-library", "memory-patterns"})
    made.remove(id);
  EXPECT_EQ(judge(made.run).exit_status, 3);
  VerifyPolicy policy;
  policy.layers = {"device", "bandwidth"};
  EXPECT_EQ(judge(made.run, testing::tables(), policy).exit_status, 0);
}

} // namespace
} // namespace gpuvet
