#include "gpu/work/gemm/tensor_maps.hpp"

#include "gpu/kernels/gemm_sm90a_shape.hpp"

namespace gpuvet {

int encode_operand_map(const CudaApi& cuda, CudaTensorMap& map, CudaPointer operand, unsigned rows,
                       unsigned inner) {
  using namespace sm90a;
  if (!cuda.cuTensorMapEncodeTiled.function) return kCudaNotFound;
  // The dimension whose elements are neighbours comes first, and has no stride of its own.
  const unsigned long long sizes[] = {inner, rows};
  const unsigned long long row_bytes[] = {2ull * inner};
  const unsigned box[] = {kInnerStep, kBoxRows};
  const unsigned every[] = {1, 1};
  return cuda.cuTensorMapEncodeTiled.function(&map, kMapBf16, 2, address_of(operand), sizes,
                                              row_bytes, box, every, kMapNotInterleaved,
                                              kMapSwizzle128, kMapPromote256, kMapFillZero);
}

} // namespace gpuvet
