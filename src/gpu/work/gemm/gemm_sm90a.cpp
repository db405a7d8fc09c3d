#include "gpu/work/gemm/gemm_sm90a.hpp"

#include "gpu/kernels/gemm_sm90a_shape.hpp"
#include "gpu/work/gemm/tensor_maps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

void require_shape(const GemmOperands& it) {
  const unsigned rows = sm90a::kPair * sm90a::kTileRows;
  bool whole = it.rows % rows == 0 && it.columns % sm90a::kTileColumns == 0 &&
               it.inner % sm90a::kInnerStep == 0;
  bool counted = uint64_t{it.rows} * it.columns < uint64_t{1} << 32;
  if (whole && counted && it.rows && it.columns && it.inner) return;
  Bench::wrong(
      fmt::format("the Hopper kernel takes rows in {}s, columns in {}s, an inner dimension "
                  "in {}s and up to 2^32 elements, not {} x {} x {}",
                  rows, sm90a::kTileColumns, sm90a::kInnerStep, it.rows, it.columns, it.inner));
}

CudaTensorMap map_of(Bench& bench, CudaPointer operand, unsigned rows, unsigned inner) {
  CudaTensorMap map;
  bench.tell.about_to_call(bench.cuda.cuTensorMapEncodeTiled.name);
  if (int code = encode_operand_map(bench.cuda, map, operand, rows, inner))
    bench.stop_at(bench.cuda.cuTensorMapEncodeTiled.name, code);
  return map;
}

} // namespace

unsigned gemm_sm90a_blocks(unsigned multiprocessors, unsigned rows, unsigned columns,
                           GemmBlocks blocks) {
  const unsigned together = blocks == GemmBlocks::pairs ? sm90a::kPair : 1;
  const unsigned tiles = rows / sm90a::kTileRows * (columns / sm90a::kTileColumns);
  return std::max(std::min(multiprocessors, tiles) / together, 1u) * together;
}

GemmSm90a prepare_gemm_sm90a(Bench& bench, const GemmOperands& operands, GemmBlocks blocks) {
  require_shape(operands);
  if (!bench.cuda.cuTensorMapEncodeTiled.function)
    Bench::unsupported(
        "the driver is older than CUDA 12.0: it has no cuTensorMapEncodeTiled, which "
        "the Hopper kernel needs");
  GemmSm90a gemm;
  gemm.operands = operands;
  gemm.function =
      bench.kernel("gemm_sm90a", blocks == GemmBlocks::pairs ? "gv_gemm_tma2" : "gv_gemm_tma");
  bench.call(bench.cuda.cuFuncSetAttribute, gemm.function, int{kCudaFunctionDynamicSharedBytes},
             int{sm90a::kSharedBytes});
  gemm.a = map_of(bench, operands.a, operands.rows, operands.inner);
  gemm.b = map_of(bench, operands.b, operands.columns, operands.inner);
  auto multiprocessors = static_cast<unsigned>(bench.attribute(kCudaMultiprocessors));
  gemm.blocks = gemm_sm90a_blocks(multiprocessors, operands.rows, operands.columns, blocks);
  return gemm;
}

void launch_gemm_sm90a(Bench& bench, const GemmSm90a& gemm, CudaPointer hashes,
                       CudaPointer multiprocessors, CudaStream stream) {
  GemmSm90a it = gemm; // the driver takes addresses of what may be written
  std::array<void*, 8> parameters = {&it.a,
                                     &it.b,
                                     &it.operands.c,
                                     &it.operands.rows,
                                     &it.operands.columns,
                                     &it.operands.inner,
                                     &hashes,
                                     &multiprocessors};
  bench.quietly(bench.cuda.cuLaunchKernel, it.function, it.blocks, 1u, 1u,
                unsigned{sm90a::kThreads}, 1u, 1u, unsigned{sm90a::kSharedBytes}, stream,
                parameters.data(), static_cast<void**>(nullptr));
}

} // namespace gpuvet
