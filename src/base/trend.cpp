#include "base/trend.hpp"

#include <algorithm>
#include <cmath>

namespace gpuvet {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return values[middle - 1] / 2 + values[middle] / 2;
}

MannKendall mann_kendall(const std::vector<double>& values) {
  MannKendall result;
  const size_t count = values.size();
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    return result;
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count; ++j)
      result.s += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;

  auto term = [](double n) { return n * (n - 1) * (2 * n + 5); };
  double variance = term(static_cast<double>(count));
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  for (size_t begin = 0; begin < count;) {
    size_t end = begin;
    while (end < count && sorted[end] == sorted[begin])
      ++end;
    variance -= term(static_cast<double>(end - begin));
    begin = end;
  }
  result.variance = variance / 18;
  if (result.variance <= 0) return result; // all the same, or fewer than two
  const double deviation = std::sqrt(result.variance);
  if (result.s > 0) result.z = (result.s - 1) / deviation;
  if (result.s < 0) result.z = (result.s + 1) / deviation;
  result.p = std::erfc(std::fabs(result.z) / std::sqrt(2.0));
  return result;
}

TheilSen theil_sen(const std::vector<double>& x, const std::vector<double>& y) {
  TheilSen result;
  const size_t count = std::min(x.size(), y.size());
  std::vector<double> slopes;
  slopes.reserve(count * (count + 1) / 2);
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count; ++j) {
      const double slope = (y[j] - y[i]) / (x[j] - x[i]);
      if (x[j] != x[i] && std::isfinite(slope)) slopes.push_back(slope);
    }
  result.slope = median_of(std::move(slopes));
  result.intercept = median_of(y) - result.slope * median_of(x);
  return result;
}

} // namespace gpuvet
