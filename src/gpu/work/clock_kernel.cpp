#include "gpu/work/clock_kernel.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace gpuvet {
namespace {

constexpr size_t kWords = 5; // cycles and ns before, cycles and ns after, result of the loop
constexpr unsigned kThreads = 32;
constexpr uint64_t kShort = 200'000, kMost = 1'000'000'000; // rounds

} // namespace

ClockKernel::ClockKernel(Bench& bench)
    : bench_(bench), kernel_(bench.kernel("core", "gv_clock")), out_(bench, kWords * 8),
      blocks_(static_cast<unsigned>(bench.attribute(kCudaMultiprocessors))) {}

void ClockKernel::enqueue(CudaStream stream, uint64_t rounds) {
  launch(bench_, kernel_, blocks_, kThreads, 0, stream, rounds, out_.at());
}

ClockKernel::Result ClockKernel::read(CudaStream stream) {
  std::array<uint64_t, kWords> out{};
  bench_.call(bench_.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(out.data()), out_.at(),
              sizeof(out), stream);
  bench_.call(bench_.cuda.cuStreamSynchronize, stream);
  constexpr float kConverged = 2;
  if (out[4] != std::bit_cast<uint32_t>(kConverged))
    Bench::wrong(fmt::format("a chain of multiplications ended at {:#x}, not at {:#x}", out[4],
                             std::bit_cast<uint32_t>(kConverged)));
  if (out[2] <= out[0] || out[3] <= out[1])
    Bench::wrong("the GPU's clocks did not move while a kernel ran");
  return {static_cast<double>(out[2] - out[0]), static_cast<double>(out[3] - out[1])};
}

ClockKernel::Result ClockKernel::run(CudaStream stream, uint64_t rounds) {
  enqueue(stream, rounds);
  return read(stream);
}

uint64_t ClockKernel::rounds_for(CudaStream stream, double seconds) {
  run(stream, kShort); // warms up
  double ns = run(stream, kShort).ns;
  auto rounds = static_cast<uint64_t>(seconds * 1e9 / ns * double{kShort});
  return std::clamp(rounds, kShort, kMost);
}

} // namespace gpuvet
