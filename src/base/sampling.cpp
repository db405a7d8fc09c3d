#include "base/sampling.hpp"

#include "base/trend.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpuvet {

double mad_of(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (double value : values)
    distances.push_back(std::fabs(value - middle));
  return median_of(std::move(distances));
}

double spread_of(const std::vector<double>& values) {
  const double middle = median_of(values);
  if (!std::isfinite(middle) || middle == 0) return std::numeric_limits<double>::infinity();
  return mad_of(values) / std::fabs(middle);
}

bool enough_samples(const std::vector<std::vector<double>>& figures, double elapsed_s,
                    const SamplingPlan& plan) {
  size_t count = figures.empty() ? 0 : figures.front().size();
  if (count == 0) return false;
  if (count >= plan.at_most || elapsed_s >= plan.seconds) return true;
  if (count < plan.at_least) return false;
  return std::all_of(figures.begin(), figures.end(), [&](const std::vector<double>& samples) {
    return spread_of(samples) < plan.spread;
  });
}

bool agree_within(double a, double b, double share) {
  return std::fabs(a - b) <= share * std::max(std::fabs(a), std::fabs(b));
}

double size_that_reaches(const std::vector<SizePoint>& points, double wanted) {
  for (size_t at = 0; at < points.size(); ++at) {
    const SizePoint& above = points[at];
    if (!(above.rate >= wanted)) continue;
    if (at == 0) return above.bytes;
    const SizePoint& below = points[at - 1];
    if (!(below.rate > 0)) return above.bytes;
    const double part = std::log(wanted / below.rate) / std::log(above.rate / below.rate);
    return below.bytes * std::pow(above.bytes / below.bytes, part);
  }
  return 0;
}

uint64_t sample_seed(uint64_t seed, uint64_t sample) {
  uint64_t mixed = seed + (sample + 1) * 0x9E3779B97F4A7C15; // the finaliser of splitmix64
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return mixed ^ (mixed >> 31);
}

} // namespace gpuvet
