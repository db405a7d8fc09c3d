// The tensor cores alone, fed from registers and shared memory: what a multiprocessor does in a
// clock. It depends neither on clocks nor on power, so it tells parts that are slowed by design
// from those that are slow.
#include "gpu/work/stress/engine.hpp"
#include "gpu/work/stress/steps.hpp"

namespace gpuvet {
namespace {

constexpr uint64_t kRounds = 20'000;
constexpr unsigned kSamples = 10;

} // namespace

void run_pipe_rate(Bench& bench, const StepOptions&) {
  const PipeLaunch pipe = pipe_launch(bench);
  const auto blocks = static_cast<unsigned>(bench.attribute(kCudaMultiprocessors));
  Stream stream(bench);
  DeviceMemory out(bench, 3 * sizeof(uint64_t));
  bench.tell.word("engine", pipe.name);
  bench.tell.word("pattern", "small integers with signs");
  for (unsigned sample = 0; sample <= kSamples; ++sample) {
    launch(bench, pipe.function, blocks, pipe.threads, 0, stream, kRounds, out.at());
    uint64_t told[3] = {}; // cycles, ns, FLOP of a multiprocessor
    bench.call(bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(+told), out.at(), sizeof(told),
               CudaStream{stream});
    bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
    if (told[0] == 0 || told[1] == 0 || told[2] == 0)
      Bench::wrong(
          "the loop over the tensor cores told no work: its result was no number, or it did "
          "not run");
    if (sample == 0) continue; // the clocks rise
    bench.tell.reading("flop_per_clock", "1",
                       static_cast<double>(told[2]) / static_cast<double>(told[0]));
    bench.tell.reading("sm_clock", "MHz",
                       static_cast<double>(told[0]) / static_cast<double>(told[1]) * 1e3);
  }
}

} // namespace gpuvet
