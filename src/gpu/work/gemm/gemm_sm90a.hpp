// The Hopper product of gpu/kernels/gemm_sm90a.cu, from the host's side.
#pragma once

#include "gpu/work/bench.hpp"

namespace gpuvet {

struct GemmOperands {
  CudaPointer a = 0, b = 0, c = 0; // bf16 rows x inner, bf16 columns x inner, fp32 rows x columns
  unsigned rows = 0, columns = 0, inner = 0;
};

// What is the same for each launch.
struct GemmSm90a {
  CudaTensorMap a, b; // aligned to 128 bytes, so first
  GemmOperands operands;
  CudaFunction function = nullptr;
  unsigned blocks = 0;
};

enum class GemmBlocks { single, pairs }; // gv_gemm_tma, gv_gemm_tma2

// The grid that uses every multiprocessor, or as many as there are tiles.
unsigned gemm_sm90a_blocks(unsigned multiprocessors, unsigned rows, unsigned columns,
                           GemmBlocks blocks);

// Throws StepStopped: for shapes that the kernel does not take, and on GPUs and drivers without it.
GemmSm90a prepare_gemm_sm90a(Bench& bench, const GemmOperands& operands, GemmBlocks blocks);

// `hashes`: a TileHash for each tile of 128 x 256, cleared before, or 0. `multiprocessors`:
// uint32_t for each tile.
void launch_gemm_sm90a(Bench& bench, const GemmSm90a& gemm, CudaPointer hashes,
                       CudaPointer multiprocessors, CudaStream stream);

} // namespace gpuvet
