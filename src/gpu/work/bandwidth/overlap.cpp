#include "gpu/work/bandwidth/overlap.hpp"

#include "gpu/work/bandwidth/sizes.hpp"

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

constexpr unsigned kMostMeasured = 20; // operations; both together stay below what a queue holds
constexpr unsigned kMostOther = 40;
constexpr double kLonger = 1.05;
constexpr int kMostTries = 6;

struct Times {
  double measured_s = 0, other_s = 0;
};

Times run_both(Gate& gate, Bench& bench, const Lane& measured, unsigned n, const Lane& other,
               unsigned m) {
  Event begin(bench), end(bench), other_begin(bench), other_end(bench);
  gate.hold(other.stream);
  gate.hold(measured.stream);
  try {
    bench.quietly(bench.cuda.cuEventRecord, CudaEvent{other_begin}, other.stream);
    for (unsigned at = 0; at < m; ++at)
      other.enqueue();
    bench.quietly(bench.cuda.cuEventRecord, CudaEvent{other_end}, other.stream);
    bench.quietly(bench.cuda.cuEventRecord, CudaEvent{begin}, measured.stream);
    for (unsigned at = 0; at < n; ++at)
      measured.enqueue();
    bench.quietly(bench.cuda.cuEventRecord, CudaEvent{end}, measured.stream);
  } catch (...) {
    gate.open();
    throw;
  }
  gate.open();
  bench.call(bench.cuda.cuStreamSynchronize, measured.stream);
  bench.call(bench.cuda.cuStreamSynchronize, other.stream);
  gate.require_held();
  return {seconds_between(bench, begin, end), seconds_between(bench, other_begin, other_end)};
}

} // namespace

double rate_while_busy(Gate& gate, Bench& bench, Lane& measured, Lane& other) {
  unsigned n = operations_for(measured.bytes, measured.rate, kMostMeasured);
  double wanted = std::ceil(1.5 * n * measured.bytes / measured.rate * other.rate / other.bytes);
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const auto m = static_cast<unsigned>(std::clamp(wanted, 1.0, double{kMostOther}));
    Times times = run_both(gate, bench, measured, n, other, m);
    measured.rate = measured.bytes * n / times.measured_s;
    // Both began when the gate opened, give or take some microseconds.
    if (times.other_s >= kLonger * times.measured_s) return measured.rate;
    if (m == kMostOther) // one way is many times as fast as the other
      n = std::max(n / 2, 1u);
    else
      wanted = std::ceil(1.5 * m * times.measured_s / times.other_s);
  }
  Bench::wrong("the two directions could not be kept busy at the same time: one ended while the "
               "other was still being measured");
}

} // namespace gpuvet
