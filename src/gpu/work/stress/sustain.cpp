#include "gpu/work/stress/sustain.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace gpuvet {
namespace {

constexpr double kHalf_s = 0.05;        // of work in each half: the CPU is asked 20 times a second
constexpr uint32_t kGoldenAtATime = 64; // tiles, between two buckets
constexpr unsigned kOverheadPairs = 5;
constexpr unsigned kTimedProducts = 4; // of each engine

struct Bucket {
  double seconds = 0, flop = 0; // of the GPU
  std::vector<double> clocks;

  void add(const HalfDone& done) {
    seconds += done.seconds;
    flop += done.flop;
    if (done.sm_clock_mhz > 0) clocks.push_back(done.sm_clock_mhz);
  }
};

double median(std::vector<double>& values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void tell_bucket(Load& load, Bucket& bucket, double fraction) {
  if (bucket.seconds <= 0) return;
  const double rate = bucket.flop / bucket.seconds / 1e12;
  load.bench.tell.reading("rate", "TFLOP/s", rate);
  if (!bucket.clocks.empty()) load.bench.tell.reading("sm_clock", "MHz", median(bucket.clocks));
  load.bench.tell.progress(std::min(fraction, 1.0), "rate", rate, "TFLOP/s");
  bucket = Bucket();
}

double seconds_each(Load& load, unsigned products, bool checked) {
  begin(load, load.halves[0], products, checked);
  return finish(load, load.halves[0]).seconds / products;
}

// With and without the checks in turn, so that clocks and temperature are the same for both. What
// the products alone reach is what other programs tell of themselves.
void measure_overhead(Load& load, unsigned products) {
  std::vector<double> shares;
  for (unsigned pair = 0; pair < kOverheadPairs; ++pair) {
    const double with = seconds_each(load, products, true);
    const double without = seconds_each(load, products, false);
    if (with <= 0 || without <= 0) continue;
    shares.push_back(1 - without / with);
    load.bench.tell.reading("unchecked_rate", "TFLOP/s", load.shape.flop() / without / 1e12);
  }
  if (!shares.empty()) load.bench.tell.reading("overhead", "1", median(shares));
}

// The clocks rise, and a cold GPU is faster than it will be: this is not told.
void warm_up(Load& load, double seconds) {
  const double until = load.bench.tell.seconds() + seconds;
  do
    load.product_s = seconds_each(load, products_in(load, kHalf_s), true);
  while (load.bench.tell.seconds() < until);
}

void run_buckets(Load& load, double seconds) {
  const double began = load.bench.tell.seconds();
  const double bucket_s = std::clamp(seconds / 20, 0.05, 1.0);
  const unsigned products = products_in(load, kHalf_s);
  auto fraction = [&] { return (load.bench.tell.seconds() - began) / std::max(seconds, 1e-3); };
  for (double end = began; fraction() < 1 || end == began;) {
    Bucket bucket;
    end = load.bench.tell.seconds() + bucket_s;
    for (LoadHalf& half : load.halves)
      begin(load, half, products);
    for (unsigned at = 0; load.bench.tell.seconds() < end; at ^= 1u) {
      bucket.add(finish(load, load.halves[at]));
      begin(load, load.halves[at], products);
      if (at == 1) load.bench.tell.alive();
    }
    for (LoadHalf& half : load.halves)
      bucket.add(finish(load, half));
    tell_bucket(load, bucket, fraction());
    prove_more(load, kGoldenAtATime);
  }
}

void tell_end(Load& load) {
  StepTeller& tell = load.bench.tell;
  tell.reading("checked", "1", load.checked);
  tell.reading("mismatches", "1", 0);
  tell.word("golden", fmt::format("{} of {} tiles of the result proved by integer arithmetic",
                                  load.golden, load.tiles));
  if (load.engine.hashes_itself)
    tell.word("coverage", fmt::format("{} of {} multiprocessors", load.seen.size(),
                                      load.bench.attribute(kCudaMultiprocessors)));
}

} // namespace

ProductShape shape_for_free_memory(Bench& bench) {
  size_t free = 0, total = 0;
  bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
  if (std::optional<ProductShape> shape = shape_for(free)) return *shape;
  Bench::wrong(fmt::format("only {:.1f} MB of the GPU's memory are free, too little for a matrix "
                           "product",
                           static_cast<double>(free) / 1e6));
}

size_t prove_and_choose(Load& load, const std::vector<ProductEngine>& engines) {
  size_t best = 0;
  double best_s = std::numeric_limits<double>::infinity();
  for (size_t at = 0; at < engines.size(); ++at) {
    load.engine = engines[at];
    prove(load);
    if (engines.size() == 1) return 0;
    begin(load, load.halves[0], kTimedProducts, false);
    const double seconds = finish(load, load.halves[0]).seconds;
    if (seconds >= best_s) continue;
    best_s = seconds;
    best = at;
  }
  load.engine = engines[best];
  prove(load); // the hashes that are right are this one's own again
  return best;
}

void sustain(Load& load) {
  StepTeller& tell = load.bench.tell;
  const double seconds = load.options.seconds;
  tell.word("engine", load.engine.name);
  tell.word("shape", describe(load.shape));
  const uint32_t bound = exact_bound(load.shape.inner);
  tell.word("pattern", fmt::format("bf16 integers from -{} to {}", bound, bound));
  const double began = tell.seconds();
  warm_up(load, std::min(seconds / 5, 2.0));
  measure_overhead(load, products_in(load, kHalf_s));
  run_buckets(load, std::max(seconds - (tell.seconds() - began), seconds / 2));
  tell_end(load);
}

} // namespace gpuvet
