// Load that is switched on and off: the supply must follow each time, which steady load never asks
// of it. Every product of every pulse is checked.
#include "gpu/work/stress/steps.hpp"
#include "gpu/work/stress/sustain.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace gpuvet {
namespace {

constexpr double kFrequencies[] = {1, 10, 100}; // Hz; half of each period is load

void sleep_until(Bench& bench, double at_s) {
  const double seconds = at_s - bench.tell.seconds();
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// One burst of about `seconds`; both halves take turns, so that it has no gap.
HalfDone burst(Load& load, double seconds) {
  HalfDone all;
  auto left = static_cast<unsigned>(std::max(seconds / std::max(load.product_s, 1e-6), 1.0));
  auto start = [&](LoadHalf& half) {
    const unsigned now = std::min(left, kSlots);
    if (now > 0) begin(load, half, now);
    left -= now;
  };
  for (LoadHalf& half : load.halves)
    start(half);
  for (unsigned at = 0; load.halves[at].busy; at ^= 1u) {
    const HalfDone done = finish(load, load.halves[at]);
    all.seconds += done.seconds;
    all.flop += done.flop;
    start(load.halves[at]);
  }
  return all;
}

void run_frequency(Load& load, double hertz, double seconds) {
  const double began = load.bench.tell.seconds(), period = 1 / hertz;
  double gpu_s = 0, flop = 0;
  for (unsigned pulse = 0; pulse == 0 || load.bench.tell.seconds() < began + seconds; ++pulse) {
    sleep_until(load.bench, began + pulse * period);
    const HalfDone done = burst(load, period / 2);
    gpu_s += done.seconds;
    flop += done.flop;
  }
  if (gpu_s > 0) load.bench.tell.reading("rate", "TFLOP/s", flop / gpu_s / 1e12);
}

// A product must be short against the shortest pulse, also on a slow GPU.
ProductShape short_shape(Bench& bench) {
  ProductShape shape = shape_for_free_memory(bench);
  const uint32_t side = std::min(shape.rows, 4096u);
  return {side, side, side};
}

} // namespace

void run_pulse(Bench& bench, const StepOptions& options) {
  best_blob(bench);
  const ProductShape shape = short_shape(bench);
  Load load(bench, options, shape);
  prove_and_choose(load, own_engines(bench, shape));
  bench.tell.word("engine", load.engine.name);
  bench.tell.word("pattern", fmt::format("bf16 integers, {}; half of the time at 1, 10 and 100 Hz",
                                         describe(shape)));
  burst(load, 0.01); // the first product was slow
  begin(load, load.halves[0], 4);
  load.product_s = finish(load, load.halves[0]).seconds / 4;
  for (double hertz : kFrequencies)
    run_frequency(load, hertz, options.seconds / std::size(kFrequencies));
  bench.tell.reading("checked", "1", load.checked);
  bench.tell.reading("mismatches", "1", 0);
}

} // namespace gpuvet
