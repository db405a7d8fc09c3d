// memory-bandwidth: the GPU's own memory by reading, writing, copying and a triad. Each kernel
// first tries shapes of its launch, since too few or too many threads are the usual reason for a
// low figure; then the best is measured, and its result checked.
#include "gpu/work/bandwidth/measure.hpp"
#include "gpu/work/bandwidth/memory_kernels.hpp"
#include "gpu/work/bandwidth/steps.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// Bytes per second of `launches` launches.
double timed_launches(MemoryField& field, MemoryKernel& kernel, Shape shape, unsigned launches) {
  double seconds = timed_behind(field.gate, field.bench, field.stream, [&] {
    for (unsigned nth = 0; nth < launches; ++nth)
      kernel.enqueue(shape, nth);
  });
  return static_cast<double>(field.size.bytes) * kernel.traffic * launches / seconds;
}

Shape best_shape(MemoryField& field, MemoryKernel& kernel, uint64_t seed, double& best) {
  constexpr unsigned kLaunches = 2;
  Shape found;
  kernel.prepare(seed);
  timed_launches(field, kernel, {256, 2}, kLaunches); // the clock of the memory goes up
  for (unsigned threads : {256u, 512u, 1024u}) {
    if (!kernel.fits(threads)) continue;
    // Blocks that stay drift apart, those that come for one piece cost their start: which is
    // faster depends on kernel and GPU, by up to a twentieth.
    for (unsigned blocks : {0u, 1u, 2u, 4u, 8u}) {
      const double rate = timed_launches(field, kernel, {threads, blocks}, kLaunches);
      if (rate <= best) continue;
      best = rate;
      found = {threads, blocks};
    }
  }
  return found;
}

void measure_kernel(MemoryField& field, MemoryKernel& kernel, const StepOptions& options,
                    const Span& span) {
  double rate = 0;
  const Shape shape = best_shape(field, kernel, sample_seed(options.seed, kernel.traffic), rate);
  const std::string blocks = shape.blocks
                                 ? fmt::format("{} blocks per multiprocessor", shape.blocks)
                                 : "a block per piece";
  field.bench.tell.word(fmt::format("{}_shape", kernel.name),
                        fmt::format("{} threads, {}", shape.threads, blocks));
  const double bytes = static_cast<double>(field.size.bytes) * kernel.traffic;
  measure(field.bench, options, span, {{kernel.name}}, [&](uint64_t seed) {
    kernel.prepare(seed);
    field.mismatches.clear(field.stream);
    const unsigned launches = std::max(operations_for(bytes, rate), 2u);
    rate = timed_launches(field, kernel, shape, launches);
    kernel.check(launches);
    return std::vector<double>{rate / 1e9};
  });
}

} // namespace

void memory_bandwidth(Bench& bench, const StepOptions& options) {
  size_t free = 0, total = 0;
  bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
  auto l2 = static_cast<uint64_t>(std::max(bench.attribute(kCudaL2Bytes), 0));
  MemoryField field(bench, memory_buffers(options.seconds, l2, free));
  bench.tell.word("buffer", field.size.word);
  bench.tell.word("pattern", std::string(kPattern) + "; small integers for the triad");
  Span span = {options.seconds / 4, 0, 0};
  for (auto& kernel : memory_kernels(field)) {
    span.to = span.from + 0.25;
    measure_kernel(field, *kernel, options, span);
    span.from = span.to;
  }
}

} // namespace gpuvet
