// Does memory rise over a series, and when is the GPU full?
#pragma once

#include "model/oom.hpp"

#include <optional>
#include <string>

namespace gpuvet {

struct OomGrowth {
  const OomSeries* series = nullptr;
  size_t values = 0;       // of the lower envelope that was tested
  double p = 1;            // Mann-Kendall, two-sided
  double slope = 0;        // Theil-Sen, bytes for one step, second or sample
  double rising_share = 0; // of the intervals between the values
  bool rises = false;
  std::string why_not;        // it is no rise; empty when it is
  std::optional<double> left; // steps, seconds or samples until the GPU is full
};

// At least this many values: below, a rank test tells nothing.
constexpr size_t kFewestSamples = 8;

// `total`: of the GPU, where the series does not tell it.
OomGrowth judge_growth(const OomSeries& series, std::optional<uint64_t> total);

// "allocated memory of GPU 0"
std::string series_name(const OomSeries& series);

// "3.1 MiB a step (p < 0.0001, 40 values, lines 10 to 400)"
std::string growth_text(const OomGrowth& growth);

// "in about 210 steps"; empty: not known.
std::string time_left_text(const OomGrowth& growth);

} // namespace gpuvet
