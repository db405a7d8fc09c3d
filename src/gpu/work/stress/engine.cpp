#include "gpu/work/stress/engine.hpp"

#include "gpu/kernels/gemm_sm90a_shape.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// ---- Hopper: operands are described by maps, one block on each multiprocessor takes tile by tile

CudaTensorMap map_of(Bench& bench, CudaPointer operand, uint32_t rows, uint32_t inner) {
  using namespace sm90a;
  const unsigned long long sizes[] = {inner, rows};
  const unsigned long long strides[] = {2ull * inner}; // bytes, of all dimensions but the first
  const unsigned box[] = {kInnerStep, kBoxRows};
  const unsigned steps[] = {1, 1};
  CudaTensorMap map;
  bench.quietly(bench.cuda.cuTensorMapEncodeTiled, &map, int{kMapBf16}, 2u,
                reinterpret_cast<void*>(operand), +sizes, +strides, +box, +steps,
                int{kMapNotInterleaved}, int{kMapSwizzle128}, int{kMapPromote256},
                int{kMapFillZero});
  return map;
}

void allow_shared(Bench& bench, CudaFunction function, unsigned bytes) {
  bench.call(bench.cuda.cuFuncSetAttribute, function, int{kCudaFunctionDynamicSharedBytes},
             static_cast<int>(bytes));
}

unsigned blocks_for_tiles(Bench& bench, const ProductShape& shape) {
  auto multiprocessors = static_cast<unsigned>(bench.attribute(kCudaMultiprocessors));
  return std::clamp(multiprocessors, 1u, tiles_of(shape));
}

ProductEngine hopper_engine(Bench& bench, const ProductShape& shape) {
  const CudaFunction function = bench.kernel("gemm_sm90a", "gv_gemm_tma");
  allow_shared(bench, function, sm90a::kSharedBytes);
  const unsigned blocks = blocks_for_tiles(bench, shape);
  ProductEngine made{"own kernel sm_90a", true, {}};
  made.multiply = [&bench, shape, function, blocks](const ProductCall& call) {
    launch(bench, function, blocks, sm90a::kThreads, sm90a::kSharedBytes, call.stream,
           map_of(bench, call.a, shape.rows, shape.inner),
           map_of(bench, call.b, shape.columns, shape.inner), call.c, shape.rows, shape.columns,
           shape.inner, call.hashes, call.multiprocessors);
  };
  return made;
}

// ---- Ampere and newer

ProductEngine ampere_engine(Bench& bench, const ProductShape& shape) {
  const CudaFunction function = bench.kernel("gemm_sm80", "gv_gemm");
  allow_shared(bench, function, kAmpereShared);
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

ProductEngine own_engine(Bench& bench, const ProductShape& shape) {
  if (best_blob(bench) == "gemm_sm90a") return hopper_engine(bench, shape);
  return ampere_engine(bench, shape);
}

PipeLaunch pipe_launch(Bench& bench) {
  const std::string blob = best_blob(bench);
  const bool hopper = blob == "gemm_sm90a";
  return {hopper ? "own kernel sm_90a" : "own kernel sm_80", bench.kernel(blob, "gv_pipe"),
          hopper ? sm90a::kPipeThreads : kAmpereThreads};
}

} // namespace gpuvet
