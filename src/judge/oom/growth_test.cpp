#include "judge/oom/growth.hpp"
#include "judge/oom/testing/logs.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>

namespace gpuvet {
namespace {

constexpr uint64_t kMi = uint64_t{1} << 20U;

OomSeries series_of(size_t count, const std::function<double(size_t)>& mib) {
  OomSeries series;
  series.what = "allocated";
  series.axis = OomAxis::step;
  for (size_t i = 0; i < count; ++i)
    series.samples.push_back({static_cast<double>(i), static_cast<uint64_t>(mib(i)) * kMi, i + 1});
  return series;
}

TEST(OomGrowth, ASteadyRise) {
  const OomSeries series =
      series_of(40, [](size_t i) { return 1000 + 10.0 * static_cast<double>(i); });
  const OomGrowth growth = judge_growth(series, uint64_t{2000} * kMi);
  EXPECT_TRUE(growth.rises) << growth.why_not;
  EXPECT_NEAR(growth.slope, 10.0 * static_cast<double>(kMi), 1.0);
  ASSERT_TRUE(growth.left.has_value());
  EXPECT_NEAR(*growth.left, (2000.0 - 1360.0) / 10, 0.01); // from the floor of the last four
  EXPECT_EQ(growth_text(growth),
            "10 MiB a step (Mann-Kendall p < 0.0001, 10 values, lines 1 to 40)");
  EXPECT_EQ(time_left_text(growth), "in about 64 steps");
}

TEST(OomGrowth, TeethOfASawAreNoRise) {
  // garbage collection every seventh step
  const OomSeries saw =
      series_of(70, [](size_t i) { return 1000 + 50.0 * static_cast<double>(i % 7); });
  EXPECT_FALSE(judge_growth(saw, std::nullopt).rises);
  const OomSeries rising = series_of(140, [](size_t i) {
    return 1000 + 50.0 * static_cast<double>(i % 4) + 5.0 * static_cast<double>(i);
  });
  EXPECT_TRUE(judge_growth(rising, std::nullopt).rises);
}

TEST(OomGrowth, WarmingUpIsNoRise) {
  const OomSeries series = series_of(60, [](size_t i) {
    return i < 20 ? 1000 + 100.0 * static_cast<double>(i) : 3000 + static_cast<double>(i % 2);
  });
  const OomGrowth growth = judge_growth(series, std::nullopt);
  EXPECT_FALSE(growth.rises);
  EXPECT_FALSE(growth.why_not.empty());
}

TEST(OomGrowth, LittleIsNoRise) {
  const OomSeries series = series_of(40, [](size_t i) { return 1000 + static_cast<double>(i); });
  EXPECT_FALSE(judge_growth(series, std::nullopt).rises); // 36 MiB in all
  const OomSeries more =
      series_of(40, [](size_t i) { return 1000 + 2.0 * static_cast<double>(i); });
  EXPECT_TRUE(judge_growth(more, std::nullopt).rises);           // 72 MiB
  EXPECT_FALSE(judge_growth(more, uint64_t{80000} * kMi).rises); // under 1 % of the GPU
}

TEST(OomGrowth, EightValuesAreNeeded) {
  auto up = [](size_t i) { return 1000 + 100.0 * static_cast<double>(i); };
  EXPECT_FALSE(judge_growth(series_of(7, up), std::nullopt).rises);
  EXPECT_TRUE(judge_growth(series_of(8, up), std::nullopt).rises);
}

TEST(OomGrowth, EmptyAndSingle) {
  EXPECT_FALSE(judge_growth(series_of(0, [](size_t) { return 0.0; }), std::nullopt).rises);
  EXPECT_FALSE(judge_growth(series_of(1, [](size_t) { return 1.0; }), std::nullopt).rises);
}

// --- series from logs ---------------------------------------------------------------------------

using testing::conclusion;
using testing::oom_evidence;

TEST(OomSeriesText, RunningMaximaAreNoSeries) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += fmt::format("step {} max_mem_allocated: {} MB peak memory allocated: {} MB\n", i,
                        1000 + 100 * i, 1000 + 100 * i);
  EXPECT_TRUE(oom_evidence(text).series.empty());
}

TEST(OomSeriesText, PollOfNvidiaSmi) {
  std::string text = "timestamp, index, memory.used [MiB], memory.total [MiB]\n";
  for (int i = 0; i < 60; ++i)
    for (int gpu = 0; gpu < 2; ++gpu)
      text += fmt::format("2026/05/01 12:{:02}:00.000, {}, {} MiB, 24576 MiB\n", i, gpu,
                          gpu == 0 ? 2000 + 100 * i : 500);
  const OomEvidence evidence = oom_evidence(text);
  ASSERT_EQ(evidence.series.size(), 2U);
  EXPECT_EQ(evidence.series[0].key, "0");
  EXPECT_EQ(evidence.series[0].axis, OomAxis::second);
  EXPECT_EQ(evidence.series[0].total, uint64_t{24576} * kMi);
  const OomGrowth growth = judge_growth(evidence.series[0], std::nullopt);
  EXPECT_TRUE(growth.rises);
  EXPECT_NEAR(growth.slope, 100.0 * static_cast<double>(kMi) / 60, 1.0); // bytes a second
  EXPECT_NE(time_left_text(growth).find("hours"), std::string::npos);
  EXPECT_FALSE(judge_growth(evidence.series[1], std::nullopt).rises);
  // The tensors were not seen: a leak and a pool that grows remain.
  EXPECT_EQ(conclusion(text), "possible leak, possible cache-growth");
}

TEST(OomSeriesText, PollsWithoutNumbers) {
  std::string text = "memory.used [MiB], memory.total [MiB]\n";
  for (int i = 0; i < 20; ++i)
    text += "[N/A], [N/A]\n";
  EXPECT_TRUE(oom_evidence(text).series.empty());
}

TEST(OomSeriesText, OnlyThePoolGrows) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += fmt::format("step {} mem_allocated: {} MB mem_reserved: {} MB\n", i, 4000 + i % 3,
                        5000 + 200 * i);
  EXPECT_EQ(conclusion(text), "likely cache-growth");
}

TEST(OomSeriesText, ALongSeriesKeepsItsFloor) {
  std::string text;
  for (int i = 0; i < 20000; ++i)
    text += fmt::format("iter {} mem_allocated: {} MB\n", i, 1000 + i / 10 + 500 * (i % 2));
  const OomEvidence evidence = oom_evidence(text);
  ASSERT_EQ(evidence.series.size(), 1U);
  EXPECT_LE(evidence.series[0].samples.size(), 4096U);
  EXPECT_GT(evidence.series[0].dropped, 0U);
  for (const OomSample& sample : evidence.series[0].samples)
    EXPECT_LT(sample.bytes, uint64_t{3001} * kMi); // the teeth are gone
  EXPECT_EQ(conclusion(text), "likely leak");
}

} // namespace
} // namespace gpuvet
