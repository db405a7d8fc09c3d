// Does a series rise, and how fast? Rank tests, which a few wild values do not mislead.
#pragma once

#include <cstddef>
#include <vector>

namespace gpuvet {

struct MannKendall {
  double s = 0;        // pairs that rise less pairs that fall
  double variance = 0; // of s when there is no trend, ties taken into account
  double z = 0;        // with the correction for continuity
  double p = 1;        // two-sided, by the normal approximation: for 8 values and more
};

// Kendall, Rank Correlation Methods, 1975; Gilbert, Statistical Methods for Environmental Pollution
// Monitoring, 1987, section 16.4. Values that are no numbers make p = 1.
MannKendall mann_kendall(const std::vector<double>& values);

struct TheilSen {
  double slope = 0, intercept = 0; // of y over x; slope: the median over all pairs
};

// Sen, Estimates of the Regression Coefficient Based on Kendall's Tau, 1968. Pairs of one x are
// left out. The intercept goes through the medians. Takes n * n / 2 numbers of memory: give it at
// most some hundred points.
TheilSen theil_sen(const std::vector<double>& x, const std::vector<double>& y);

// The middle one, or the mean of the two in the middle; 0 of none.
double median_of(std::vector<double> values);

} // namespace gpuvet
