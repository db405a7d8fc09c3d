#include "gpu/work/stress/engine.hpp"

#include "gpu/kernels/gemm_sm90a_shape.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>

namespace gpuvet {
namespace {

unsigned multiprocessors_of(Bench& bench) {
  return static_cast<unsigned>(std::max(bench.attribute(kCudaMultiprocessors), 1));
}

} // namespace

std::string best_blob(const Bench& bench) {
  if (bench.sm == 90) return "gemm_sm90a"; // the `a` runs on 9.0 only
  if (bench.sm >= 80) return "gemm_sm80";
  Bench::unsupported(
      fmt::format("gpuvet's own matrix kernels need compute capability 8.0 or newer; "
                  "this GPU has {}.{}",
                  bench.sm / 10, bench.sm % 10));
}

} // namespace gpuvet
