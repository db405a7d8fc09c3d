// What it costs to give a kernel to the GPU. Submit is the CPU's time for cuLaunchKernel,
// round trip that until an empty kernel is known to be done, the gap the GPU's time from one
// dependent kernel to the next.
#include "gpu/work/pieces.hpp"
#include "gpu/work/stress/steps.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace gpuvet {
namespace {

constexpr unsigned kLaunches = 512; // then the queue is emptied: a full one would be measured
constexpr unsigned kLaunchSamples = 40;
constexpr unsigned kRoundTrips = 500;
constexpr unsigned kChain = 60; // behind the gate: see Gate
constexpr unsigned kChainSamples = 200;
constexpr unsigned kSamplesTold = 40;

double now_us() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One launch in 20000 that the system interrupted says nothing: each sample is the median of many.
template <class Once> double median_of(unsigned count, Once&& once) {
  std::vector<double> values;
  for (unsigned at = 0; at < count; ++at) {
    double began = now_us();
    once();
    values.push_back(now_us() - began);
  }
  return median(values);
}

void measure_submit(Bench& bench, const Stream& stream) {
  CudaFunction null = bench.kernel("core", "gv_null");
  for (unsigned sample = 0; sample < kLaunchSamples; ++sample) {
    double us = median_of(kLaunches, [&] { launch(bench, null, 1, 1, 0, stream); });
    bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
    if (sample > 0) bench.tell.reading("submit_us", "us", us); // the first warms up
  }
}

void measure_round_trip(Bench& bench, const Stream& stream) {
  CudaFunction null = bench.kernel("core", "gv_null");
  for (unsigned sample = 0; sample < kLaunchSamples; ++sample) {
    double us = median_of(kRoundTrips, [&] {
      launch(bench, null, 1, 1, 0, stream);
      bench.quietly(bench.cuda.cuStreamSynchronize, CudaStream{stream});
    });
    bench.tell.alive();
    if (sample > 0) bench.tell.reading("round_trip_us", "us", us);
  }
}

void measure_gap(Bench& bench, const Stream& stream) {
  CudaFunction null = bench.kernel("core", "gv_null");
  Gate gate(bench);
  std::vector<double> gaps;
  for (unsigned sample = 0; sample < kChainSamples; ++sample) {
    double seconds = timed_behind(gate, bench, stream, [&] {
      for (unsigned at = 0; at < kChain; ++at)
        launch(bench, null, 1, 1, 0, stream);
    });
    gaps.push_back(seconds * 1e6 / kChain);
    if (gaps.size() < kChainSamples / kSamplesTold) continue;
    bench.tell.reading("gap_us", "us", median(gaps));
    gaps.clear();
  }
}

} // namespace

void run_launch(Bench& bench, const StepOptions&) {
  Stream stream(bench);
  bench.tell.word("pattern", "none: an empty kernel");
  measure_submit(bench, stream);
  measure_round_trip(bench, stream);
  measure_gap(bench, stream);
}

} // namespace gpuvet
