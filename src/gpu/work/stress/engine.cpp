#include "gpu/work/stress/engine.hpp"

#include "gpu/kernels/gemm_sm90a_shape.hpp"
#include "gpu/work/gemm/gemm_sm90a.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

namespace gpuvet {
namespace {

// ---- Hopper: operands are described by maps, which are made again when the operands are others

ProductEngine hopper_engine(Bench& bench, const ProductShape& shape, GemmBlocks blocks) {
  ProductEngine made{blocks == GemmBlocks::pairs ? "own kernel sm_90a, pairs of blocks"
                                                 : "own kernel sm_90a",
                     true,
                     {}};
  auto prepared = std::make_shared<GemmSm90a>();
  made.multiply = [&bench, shape, blocks, prepared](const ProductCall& call) {
    const GemmOperands& now = prepared->operands;
    if (now.a != call.a || now.b != call.b || now.c != call.c)
      *prepared = prepare_gemm_sm90a(
          bench, {call.a, call.b, call.c, shape.rows, shape.columns, shape.inner}, blocks);
    launch_gemm_sm90a(bench, *prepared, call.hashes, call.multiprocessors, call.stream);
  };
  return made;
}

// ---- Ampere and newer

unsigned blocks_for_tiles(Bench& bench, const ProductShape& shape) {
  auto multiprocessors = static_cast<unsigned>(bench.attribute(kCudaMultiprocessors));
  return std::clamp(multiprocessors, 1u, tiles_of(shape));
}

ProductEngine ampere_engine(Bench& bench, const ProductShape& shape) {
  CudaFunction function = bench.kernel("gemm_sm80", "gv_gemm");
  bench.call(bench.cuda.cuFuncSetAttribute, function, int{kCudaFunctionDynamicSharedBytes},
             static_cast<int>(kAmpereShared));
  const unsigned blocks = blocks_for_tiles(bench, shape);
  ProductEngine made{"own kernel sm_80", true, {}};
  made.multiply = [&bench, shape, function, blocks](const ProductCall& call) {
    launch(bench, function, blocks, kAmpereThreads, kAmpereShared, call.stream, call.a, call.b,
           call.c, shape.rows, shape.columns, shape.inner, call.hashes, call.multiprocessors);
  };
  return made;
}

} // namespace

std::string best_blob(const Bench& bench) {
  // The `a` runs on 9.0 only; drivers before CUDA 12.0 cannot make its maps.
  if (bench.sm == 90 && bench.cuda.cuTensorMapEncodeTiled.function) return "gemm_sm90a";
  if (bench.sm >= 80) return "gemm_sm80";
  Bench::unsupported(
      fmt::format("gpuvet's own matrix kernels need compute capability 8.0 or newer; "
                  "this GPU has {}.{}",
                  bench.sm / 10, bench.sm % 10));
}

std::vector<ProductEngine> own_engines(Bench& bench, const ProductShape& shape) {
  if (best_blob(bench) != "gemm_sm90a") return {ampere_engine(bench, shape)};
  return {hopper_engine(bench, shape, GemmBlocks::single),
          hopper_engine(bench, shape, GemmBlocks::pairs)};
}

PipeLaunch pipe_launch(Bench& bench) {
  const std::string blob = best_blob(bench);
  const bool hopper = blob == "gemm_sm90a";
  return {hopper ? "own kernel sm_90a" : "own kernel sm_80", bench.kernel(blob, "gv_pipe"),
          hopper ? sm90a::kPipeThreads : kAmpereThreads};
}

} // namespace gpuvet
