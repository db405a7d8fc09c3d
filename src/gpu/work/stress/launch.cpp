// What it costs to give a kernel to the GPU. Submit is the CPU's time for cuLaunchKernel,
// round trip that until an empty kernel is known to be done, the gap the GPU's time from one
// dependent kernel to the next.
#include "gpu/work/pieces.hpp"
#include "gpu/work/stress/steps.hpp"

#include <algorithm>
#include <chrono>

namespace gpuvet {
namespace {

constexpr unsigned kLaunches = 512; // then the queue is emptied: a full one would be measured
constexpr unsigned kLaunchSamples = 40;
constexpr unsigned kRoundTrips = 500;
constexpr unsigned kChain = 60; // behind the gate: see Gate
constexpr unsigned kChainsOfASample = 5;
// Where somebody else computes, each launch waits for a slice of the GPU's time: then the time that
// is given ends it, after so many.
constexpr unsigned kAlways = 5;
constexpr unsigned kSamplesAlways = 3;

double now_us() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One of the figures: its share of the step's time, and what it works with.
struct Part {
  Bench& bench;
  const Stream& stream;
  CudaFunction null;
  double until; // seconds of the run

  Part(Bench& bench_, const Stream& stream_, double seconds)
      : bench(bench_), stream(stream_), null(bench_.kernel("core", "gv_null")),
        until(bench_.tell.seconds() + seconds) {
    // Its name is told once: telling it each time would be measured.
    bench.tell.about_to_call(bench.cuda.cuLaunchKernel.name);
  }
  bool goes_on(unsigned done, unsigned always, unsigned most) const {
    return done < always || (done < most && bench.tell.seconds() < until);
  }
  void enqueue() const { launch(bench, null, 1, 1, 0, stream); }
  void synchronize() const {
    bench.quietly(bench.cuda.cuStreamSynchronize, CudaStream{stream});
    bench.tell.alive();
  }
};

// One launch in 20000 that the system interrupted says nothing: each sample is the median of many.
template <class Once> double median_of(const Part& part, unsigned most, Once&& once) {
  std::vector<double> values;
  while (part.goes_on(static_cast<unsigned>(values.size()), kAlways, most)) {
    double began = now_us();
    once();
    values.push_back(now_us() - began);
  }
  return median(values);
}

void measure_submit(const Part& part) {
  for (unsigned sample = 0; part.goes_on(sample, kSamplesAlways, kLaunchSamples); ++sample) {
    double us = median_of(part, kLaunches, [&] { part.enqueue(); });
    part.synchronize();
    if (sample > 0) part.bench.tell.reading("submit_us", "us", us); // the first warms up
  }
}

void measure_round_trip(const Part& part) {
  for (unsigned sample = 0; part.goes_on(sample, kSamplesAlways, kLaunchSamples); ++sample) {
    double us = median_of(part, kRoundTrips, [&] {
      part.enqueue();
      part.bench.quietly(part.bench.cuda.cuStreamSynchronize, CudaStream{part.stream});
    });
    part.bench.tell.alive();
    if (sample > 0) part.bench.tell.reading("round_trip_us", "us", us);
  }
}

void measure_gap(const Part& part) {
  Gate gate(part.bench);
  for (unsigned sample = 0; part.goes_on(sample, kSamplesAlways, kLaunchSamples); ++sample) {
    std::vector<double> gaps;
    for (unsigned chain = 0; chain < kChainsOfASample; ++chain) {
      double seconds = timed_behind(gate, part.bench, part.stream, [&] {
        for (unsigned at = 0; at < kChain; ++at)
          part.enqueue();
      });
      gaps.push_back(seconds * 1e6 / kChain);
    }
    part.bench.tell.alive();
    part.bench.tell.reading("gap_us", "us", median(gaps));
  }
}

} // namespace

void run_launch(Bench& bench, const StepOptions& options) {
  Stream stream(bench);
  bench.tell.word("pattern", "none: an empty kernel");
  const double third = options.seconds / 3;
  measure_submit(Part(bench, stream, third));
  measure_round_trip(Part(bench, stream, third));
  measure_gap(Part(bench, stream, third));
}

} // namespace gpuvet
