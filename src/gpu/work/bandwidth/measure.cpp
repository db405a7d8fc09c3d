#include "gpu/work/bandwidth/measure.hpp"

#include "base/trend.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr double kWarm = 0.01; // agreement of two samples
constexpr double kMostWarming_s = 3;
constexpr size_t kAlways = 3; // samples

bool all_agree(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t at = 0; at < a.size() && at < b.size(); ++at)
    if (!agree_within(a[at], b[at], kWarm)) return false;
  return a.size() == b.size();
}

} // namespace

std::vector<double> measure(Bench& bench, const StepOptions& options, const Span& span,
                            const std::vector<FigureName>& figures, const TakeSample& take) {
  const double began = bench.tell.seconds();
  auto elapsed = [&] { return bench.tell.seconds() - began; };
  uint64_t sample = 0;
  // A part of a test must not repeat the data of another.
  const uint64_t seed = sample_seed(options.seed, static_cast<uint64_t>(span.from * 1000));

  const double warming = std::min(kMostWarming_s, span.seconds / 2);
  for (std::vector<double> last;;) {
    std::vector<double> now = take(sample_seed(seed, sample++));
    if (all_agree(last, now) || elapsed() >= warming) break;
    last = now;
  }

  SamplingPlan plan;
  plan.seconds = span.seconds;
  std::vector<std::vector<double>> samples(figures.size());
  auto goes_on = [&] {
    if (samples[0].size() < kAlways) return samples[0].empty() || elapsed() < 2 * plan.seconds;
    return !enough_samples(samples, elapsed(), plan);
  };
  while (goes_on()) {
    std::vector<double> now = take(sample_seed(seed, sample++));
    for (size_t at = 0; at < figures.size(); ++at) {
      samples[at].push_back(now.at(at));
      bench.tell.reading(figures[at].name, figures[at].unit, now.at(at));
    }
    const double part =
        std::max(elapsed() / std::max(plan.seconds, 1e-3),
                 static_cast<double>(samples[0].size()) / static_cast<double>(plan.at_most));
    bench.tell.progress(span.from + (span.to - span.from) * std::min(part, 1.0), figures[0].name,
                        now.at(0), figures[0].unit);
  }
  std::vector<double> medians;
  for (std::vector<double>& of_one : samples)
    medians.push_back(median_of(of_one));
  return medians;
}

} // namespace gpuvet
