// Samples to the figures that stand for them.
#pragma once

#include "model/verify/judged.hpp"
#include "model/verify/measurements.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

// nullopt: there is no finite number among them.
std::optional<double> sample_median(std::vector<double> samples);
// Median of the distances from the median.
std::optional<double> sample_mad(const std::vector<double>& samples);

struct Figure {
  std::string reading, unit;
  double median = 0, mad = 0, least = 0, most = 0;
  size_t samples = 0;
};

std::optional<Figure> figure_of(const StepResult& step, const std::string& reading);

void show(const Figure& figure, JudgedStep& made);

} // namespace gpuvet
