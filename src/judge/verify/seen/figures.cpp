#include "judge/verify/seen/figures.hpp"

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

std::vector<double> finite(std::vector<double> samples) {
  samples.erase(std::remove_if(samples.begin(), samples.end(),
                               [](double sample) { return !std::isfinite(sample); }),
                samples.end());
  return samples;
}

} // namespace

std::optional<double> sample_median(std::vector<double> samples) {
  samples = finite(std::move(samples));
  if (samples.empty()) return std::nullopt;
  const size_t middle = samples.size() / 2;
  std::sort(samples.begin(), samples.end());
  if (samples.size() % 2 == 1) return samples[middle];
  return samples[middle - 1] / 2 + samples[middle] / 2;
}

std::optional<double> sample_mad(const std::vector<double>& samples) {
  const std::optional<double> median = sample_median(samples);
  if (!median) return std::nullopt;
  std::vector<double> distances;
  for (double sample : finite(samples))
    distances.push_back(std::fabs(sample - *median));
  return sample_median(std::move(distances));
}

std::optional<Figure> figure_of(const StepResult& step, const std::string& reading) {
  const auto at = step.readings.find(reading);
  if (at == step.readings.end()) return std::nullopt;
  const std::vector<double> samples = finite(at->second.samples);
  if (samples.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  return Figure{reading, at->second.unit, *sample_median(samples), *sample_mad(samples),
                *least,  *most,           samples.size()};
}

void show(const Figure& figure, JudgedStep& made) {
  made.reading = figure.reading;
  made.unit = figure.unit;
  made.value = figure.median;
  made.mad = figure.mad;
  made.least = figure.least;
  made.most = figure.most;
  made.samples = figure.samples;
}

} // namespace gpuvet
