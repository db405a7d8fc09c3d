#include "gpu/work/clock_kernel.hpp"
#include "gpu/work/device/device_steps.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr double kSample_s = 0.02; // the GPU's clock of nanoseconds moves in steps of about 1 us
constexpr int kLeast = 3, kMost = 20;

} // namespace

void device_clock(Bench& bench, const StepOptions& options) {
  bench.tell.word("pattern", "x / 2 + 1");
  Stream stream(bench);
  ClockKernel clock(bench);
  const uint64_t rounds = clock.rounds_for(stream, kSample_s);
  const double end = bench.tell.seconds() + options.seconds;
  for (int at = 0; at < kMost && (at < kLeast || bench.tell.seconds() < end); ++at) {
    ClockKernel::Result result = clock.run(stream, rounds);
    bench.tell.reading("sm_clock", "MHz", result.cycles / result.ns * 1e3);
  }
}

} // namespace gpuvet
