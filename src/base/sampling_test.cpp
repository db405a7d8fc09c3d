#include "base/sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace gpuvet {
namespace {

TEST(Sampling, OneWildSampleDoesNotMoveTheMad) {
  EXPECT_DOUBLE_EQ(mad_of({1, 2, 3, 4, 5}), 1);
  EXPECT_DOUBLE_EQ(mad_of({1, 2, 3, 4, 5000}), 1);
  EXPECT_DOUBLE_EQ(mad_of({7, 7, 7}), 0);
  EXPECT_DOUBLE_EQ(mad_of({}), 0);
  EXPECT_DOUBLE_EQ(spread_of({90, 100, 110}), 0.1);
  EXPECT_DOUBLE_EQ(spread_of({-90, -100, -110}), 0.1);
}

TEST(Sampling, NothingMeasuredHasNoSpread) {
  EXPECT_TRUE(std::isinf(spread_of({})));
  EXPECT_TRUE(std::isinf(spread_of({0, 0, 0})));
  EXPECT_TRUE(std::isinf(spread_of({std::numeric_limits<double>::infinity()})));
}

std::vector<double> samples(size_t count, double wobble) {
  std::vector<double> values;
  for (size_t at = 0; at < count; ++at)
    values.push_back(50 * (1 + (at % 2 ? wobble : -wobble)));
  return values;
}

TEST(Sampling, TenQuietSamplesAreEnough) {
  SamplingPlan plan;
  plan.seconds = 10;
  EXPECT_FALSE(enough_samples({}, 0, plan));
  EXPECT_FALSE(enough_samples({samples(9, 0)}, 1, plan));
  EXPECT_TRUE(enough_samples({samples(10, 0.002)}, 1, plan));
  EXPECT_FALSE(enough_samples({samples(10, 0.004)}, 1, plan));
  EXPECT_FALSE(enough_samples({samples(28, 0.004)}, 1, plan));
  EXPECT_TRUE(enough_samples({samples(30, 0.004)}, 1, plan));
}

TEST(Sampling, EachFigureMustBeQuiet) {
  SamplingPlan plan;
  plan.seconds = 10;
  EXPECT_FALSE(enough_samples({samples(12, 0), samples(12, 0.1)}, 1, plan));
  EXPECT_FALSE(enough_samples({samples(12, 0.1), samples(12, 0)}, 1, plan));
  EXPECT_TRUE(enough_samples({samples(12, 0), samples(12, 0)}, 1, plan));
}

TEST(Sampling, TimeEndsItButNotBeforeTheFirst) {
  SamplingPlan plan;
  plan.seconds = 0.4;
  EXPECT_FALSE(enough_samples({samples(0, 0)}, 5, plan));
  EXPECT_FALSE(enough_samples({samples(1, 0)}, 0.39, plan));
  EXPECT_TRUE(enough_samples({samples(1, 0)}, 0.4, plan));
}

TEST(Sampling, AgreementIsOfTheLarger) {
  EXPECT_TRUE(agree_within(99, 100, 0.01));
  EXPECT_TRUE(agree_within(100, 99, 0.01));
  EXPECT_FALSE(agree_within(98.9, 100, 0.01));
  EXPECT_FALSE(agree_within(std::nan(""), 100, 0.01));
}

TEST(Sampling, SizeBetweenTwoPointsByTheirLogarithms) {
  // rate = top * bytes / (bytes + 65536), which reaches half of the top at 65536 bytes
  std::vector<SizePoint> points;
  for (double bytes = 4096; bytes <= 512 << 20; bytes *= 4)
    points.push_back({bytes, 55 * bytes / (bytes + 65536)});
  EXPECT_NEAR(size_that_reaches(points, 55.0 / 2), 65536, 6554);
  EXPECT_DOUBLE_EQ(size_that_reaches(points, 1), 4096);
  EXPECT_DOUBLE_EQ(size_that_reaches(points, 55), 0);
  EXPECT_DOUBLE_EQ(size_that_reaches({}, 1), 0);
  EXPECT_DOUBLE_EQ(size_that_reaches({{4, 0}, {16, 10}}, 5), 16);
  EXPECT_NEAR(size_that_reaches({{4, 1}, {16, 4}}, 2), 8, 1e-9);
}

TEST(Sampling, SeedsDiffer) {
  std::set<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (uint64_t sample = 0; sample < 100; ++sample)
      seeds.insert(sample_seed(seed, sample));
  EXPECT_EQ(seeds.size(), 1000u);
}

} // namespace
} // namespace gpuvet
