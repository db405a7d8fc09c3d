// When a measurement has been repeated often enough, and what its samples say together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuvet {

// The median of the distances from the median, not scaled; 0 of none. One wild sample does not move
// it, unlike a standard deviation.
double mad_of(const std::vector<double>& values);

// mad_of() as a share of the median; infinite where the median is 0 or no number.
double spread_of(const std::vector<double>& values);

struct SamplingPlan {
  size_t at_least = 10; // samples, unless the time runs out before
  size_t at_most = 30;
  double spread = 0.003; // of each figure: then at_least is enough
  double seconds = 0;    // how long it may take; the sample under way is still finished
};

// `figures`: the samples of each figure that is measured together, all of one length. At least one
// sample is taken however short the time.
bool enough_samples(const std::vector<std::vector<double>>& figures, double elapsed_s,
                    const SamplingPlan& plan);

// Do these two agree within `share` of the larger? Warm when two successive samples do.
bool agree_within(double a, double b, double share);

// The size at which a quantity reaches `wanted`, between two measured sizes by a straight line over
// the logarithms of both. Sizes rise. The first size where it is already reached there; 0 where it
// is never reached.
struct SizePoint {
  double bytes = 0, rate = 0;
};
double size_that_reaches(const std::vector<SizePoint>& points, double wanted);

// A seed for each sample of a test, far from all others.
uint64_t sample_seed(uint64_t seed, uint64_t sample);

} // namespace gpuvet
