#include "judge/oom/growth.hpp"

#include "base/trend.hpp"
#include "judge/oom/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

constexpr double kSignificant = 0.01;
constexpr double kLeastRise = 64.0 * (1U << 20U); // bytes over the whole series, and
constexpr double kLeastShare = 0.01;              // of the GPU
constexpr double kMostlyRising = 0.7;             // of the intervals
constexpr double kStillRising = 0.25; // slope of the second half against that of the whole: else it
                                      // was warming up
constexpr size_t kMostValues = 256;   // that are tested
constexpr size_t kEnvelopeFrom = 32;  // samples from which on only floors are looked at

struct Points {
  std::vector<double> x, y;
};

// The lowest value of each stretch: garbage collection and the phases of a step make a saw whose
// teeth say nothing.
Points floor_of(const std::vector<OomSample>& samples) {
  Points points;
  const size_t count = samples.size();
  size_t stretch = 1;
  if (count >= kEnvelopeFrom)
    stretch = std::max<size_t>(4, (count + kMostValues - 1) / kMostValues);
  for (size_t begin = 0; begin < count; begin += stretch) {
    const size_t end = std::min(count, begin + stretch);
    if (end - begin < stretch) break; // a short stretch has a higher floor
    size_t low = begin;
    for (size_t i = begin; i < end; ++i)
      if (samples[i].bytes < samples[low].bytes) low = i;
    points.x.push_back(samples[low].at);
    points.y.push_back(static_cast<double>(samples[low].bytes));
  }
  return points;
}

double share_rising(const std::vector<double>& y) {
  size_t rising = 0;
  for (size_t i = 1; i < y.size(); ++i)
    if (y[i] > y[i - 1]) ++rising;
  return y.size() < 2 ? 0 : static_cast<double>(rising) / static_cast<double>(y.size() - 1);
}

double second_half_slope(const Points& points) {
  const auto half = static_cast<std::ptrdiff_t>(points.x.size() / 2);
  return theil_sen({points.x.begin() + half, points.x.end()},
                   {points.y.begin() + half, points.y.end()})
      .slope;
}

std::string unit_of(OomAxis axis, bool many) {
  switch (axis) {
  case OomAxis::step:
    return many ? "steps" : "step";
  case OomAxis::second:
    return many ? "seconds" : "second";
  case OomAxis::sample:
    break;
  }
  return many ? "more values" : "value";
}

} // namespace

OomGrowth judge_growth(const OomSeries& series, std::optional<uint64_t> total) {
  OomGrowth growth;
  growth.series = &series;
  if (series.total) total = series.total;
  const Points points = floor_of(series.samples);
  growth.values = points.y.size();
  if (growth.values < kFewestSamples) {
    growth.why_not =
        fmt::format("{} values are too few to tell, {} are needed", growth.values, kFewestSamples);
    return growth;
  }
  growth.p = mann_kendall(points.y).p;
  const TheilSen line = theil_sen(points.x, points.y);
  growth.slope = line.slope;
  growth.rising_share = share_rising(points.y);
  const double rise = line.slope * (points.x.back() - points.x.front());
  const double least =
      std::max(kLeastRise, total ? kLeastShare * static_cast<double>(*total) : 0.0);
  if (line.slope <= 0 || growth.p >= kSignificant)
    growth.why_not = fmt::format("no significant rise (Mann-Kendall p = {:.2g})", growth.p);
  else if (rise < least)
    growth.why_not =
        fmt::format("it rises by {} in all, less than {}", size_text(rise), size_text(least));
  else if (growth.rising_share < kMostlyRising)
    growth.why_not =
        fmt::format("it rises in {:.0f} % of the intervals only", growth.rising_share * 100);
  else if (second_half_slope(points) < kStillRising * line.slope)
    growth.why_not = "it rose at the start and then stayed: warming up";
  growth.rises = growth.why_not.empty();
  if (growth.rises && total && points.y.back() < static_cast<double>(*total))
    growth.left = (static_cast<double>(*total) - points.y.back()) / line.slope;
  return growth;
}

std::string series_name(const OomSeries& series) {
  std::string name = series.what + " memory";
  const std::string& key = series.key;
  if (key.empty()) return name;
  const bool number = key.find_first_not_of("0123456789") == std::string::npos;
  return name + (number ? " of GPU " : " of ") + key;
}

std::string growth_text(const OomGrowth& growth) {
  const OomSeries& series = *growth.series;
  const std::string p = growth.p < 0.0001 ? "p < 0.0001" : fmt::format("p = {:.2g}", growth.p);
  return fmt::format("{} a {} (Mann-Kendall {}, {} values, lines {} to {})",
                     size_text(growth.slope), unit_of(series.axis, false), p, growth.values,
                     series.samples.front().line, series.samples.back().line);
}

std::string time_left_text(const OomGrowth& growth) {
  if (!growth.left) return {};
  const double left = *growth.left;
  if (growth.series->axis == OomAxis::second && left >= 120) {
    if (left >= 7200) return fmt::format("in about {:.1f} hours", left / 3600);
    return fmt::format("in about {:.0f} minutes", left / 60);
  }
  return fmt::format("in about {:.0f} {}", left, unit_of(growth.series->axis, true));
}

} // namespace gpuvet
