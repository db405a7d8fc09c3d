// How Hopper's copy engine finds a box of a matrix in memory: a tensor map, which the driver
// encodes.
#pragma once

#include "gpu/cuda_api.hpp"

namespace gpuvet {

// The map of an operand of gv_gemm_tma: bf16, rows x inner, row-major; boxes as
// gpu/kernels/gemm_sm90a_shape.hpp says. Gives the driver's code; kCudaNotFound when the driver is
// older than CUDA 12.0.
int encode_operand_map(const CudaApi& cuda, CudaTensorMap& map, CudaPointer operand, unsigned rows,
                       unsigned inner);

} // namespace gpuvet
