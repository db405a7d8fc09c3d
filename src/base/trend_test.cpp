// Reference values: pymannkendall 1.4.3 (original_test) and scipy 1.17.1 (stats.theilslopes).
#include "base/trend.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace gpuvet {
namespace {

struct Reference {
  const char* name;
  std::vector<double> y;
  double s, variance, z, p, slope, intercept;
};

const std::vector<Reference>& references() {
  static const std::vector<Reference> all = {
      {"rising",
       {10, 12, 11, 14, 15, 15, 18, 19, 22, 21},
       40,
       124,
       3.502303389522111,
       0.0004612540671704579,
       1.3333333333333333,
       9},
      {"flat",
       {5, 5, 6, 5, 4, 5, 6, 5, 5, 4},
       -8,
       94.66666666666667,
       -0.7194481453189082,
       0.471864841371505,
       0,
       5},
      {"falling",
       {9, 8, 8, 7, 6, 6, 5, 3, 2},
       -34,
       90,
       -3.478505426185217,
       0.0005042182294490161,
       -0.8571428571428571,
       9.428571428571429},
      {"ties",
       {1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5},
       55,
       198.33333333333334,
       3.834386653482322,
       0.00012587800092234147,
       0.3333333333333333,
       1.1666666666666667},
      {"noise",
       {3.2, 1.1, 4.8, 2.2, 3.9, 2.7, 3.3, 1.9, 4.1, 2.5, 3.0},
       1,
       165,
       0,
       1,
       0.016666666666666607,
       2.916666666666667},
      {"one wild value",
       {100, 101, 102, 103, 9000, 104, 105, 106, 107, 108, 109},
       43,
       165,
       3.2696955654783966,
       0.001076632864587701,
       0.8888888888888888,
       100.55555555555556},
  };
  return all;
}

TEST(Trend, AgreesWithTheReference) {
  for (const Reference& reference : references()) {
    SCOPED_TRACE(reference.name);
    const MannKendall test = mann_kendall(reference.y);
    EXPECT_DOUBLE_EQ(test.s, reference.s);
    EXPECT_NEAR(test.variance, reference.variance, 1e-9);
    EXPECT_NEAR(test.z, reference.z, 1e-9);
    EXPECT_NEAR(test.p, reference.p, 1e-9);
    std::vector<double> x(reference.y.size());
    std::iota(x.begin(), x.end(), 0.0);
    const TheilSen line = theil_sen(x, reference.y);
    EXPECT_NEAR(line.slope, reference.slope, 1e-12);
    EXPECT_NEAR(line.intercept, reference.intercept, 1e-9);
  }
}

TEST(Trend, TakesUnevenSteps) {
  const TheilSen line =
      theil_sen({0, 1, 3, 4, 8, 9, 15, 16}, {2.0, 2.5, 4.1, 4.0, 9.2, 8.8, 15.5, 17.0});
  EXPECT_NEAR(line.slope, 0.9330357142857143, 1e-12);
  EXPECT_NEAR(line.intercept, 0.8517857142857146, 1e-12);
}

TEST(Trend, SaysNothingOfTooLittle) {
  EXPECT_EQ(mann_kendall({}).p, 1);
  EXPECT_EQ(mann_kendall({7}).p, 1);
  EXPECT_EQ(mann_kendall({7, 7, 7, 7, 7, 7, 7, 7}).p, 1);
  EXPECT_EQ(theil_sen({}, {}).slope, 0);
  EXPECT_EQ(theil_sen({1, 1}, {2, 9}).slope, 0); // one x: no slope
}

TEST(Trend, NumbersThatAreNoneGiveNoTrend) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(mann_kendall({1, 2, 3, nan, 5, 6, 7, 8, 9}).p, 1);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_TRUE(std::isfinite(theil_sen({0, 1, 2}, {-huge, huge, 1}).slope));
}

} // namespace
} // namespace gpuvet
