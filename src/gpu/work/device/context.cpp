#include "gpu/work/device/device_steps.hpp"
#include "gpu/work/pieces.hpp"

#include <fmt/core.h>

#include <numeric>
#include <vector>

namespace gpuvet {
namespace {

constexpr unsigned kLaunches = 10;
constexpr size_t kMostMultiprocessors = 4096;     // their numbers may have gaps
constexpr unsigned kBlocksPerMultiprocessor = 64; // so many that each gets some
constexpr const char* kNumber = "1";

// From the launch until the host knows that it is done.
void time_launches(Bench& bench, CudaStream stream) {
  CudaFunction null = bench.kernel("core", "gv_null");
  for (unsigned at = 0; at <= kLaunches; ++at) {
    bench.tell.about_to_call("cuStreamSynchronize");
    double began = bench.tell.seconds();
    launch(bench, null, 1, 1, 0, stream);
    bench.quietly(bench.cuda.cuStreamSynchronize, stream);
    double took = bench.tell.seconds() - began;
    if (at > 0) bench.tell.reading("kernel_us", "us", took * 1e6); // the first one warms up
  }
}

void count_multiprocessors(Bench& bench, CudaStream stream) {
  const auto blocks =
      static_cast<unsigned>(bench.attribute(kCudaMultiprocessors)) * kBlocksPerMultiprocessor;
  DeviceMemory seen(bench, kMostMultiprocessors * sizeof(uint32_t));
  std::vector<uint32_t> counts(kMostMultiprocessors);
  bench.call(bench.cuda.cuMemsetD32Async, seen.at(), 0u, kMostMultiprocessors, stream);
  launch(bench, bench.kernel("core", "gv_mark"), blocks, 256, 0, stream, seen.at());
  bench.call(bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(counts.data()), seen.at(),
             seen.bytes(), stream);
  bench.call(bench.cuda.cuStreamSynchronize, stream);
  uint64_t ran = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  unsigned busy = 0;
  for (uint32_t count : counts)
    busy += count > 0;
  bench.tell.reading("multiprocessors_seen", kNumber, busy);
  if (ran != blocks)
    Bench::wrong(fmt::format("of {} blocks of a kernel {} counted themselves", blocks, ran));
}

} // namespace

void device_context(Bench& bench, const StepOptions&) {
  bench.tell.word("pattern", "each block counts itself");
  bench.tell.reading("context_s", "s", bench.context_s);
  Stream stream(bench);
  time_launches(bench, stream);
  count_multiprocessors(bench, stream);
  bench.tell.word("image", bench.image_of("core"));
}

} // namespace gpuvet
