// What warps do together on sm_80 and later: copies that run beside the arithmetic, matrix
// fragments from shared memory, the tensor core. On a host the same names come from
// gpu/testing/host_warps.hpp, which does what the PTX manual says that each does.
#pragma once

#include "gpu/kernels/device.hpp"

#ifdef __CUDACC__

namespace gpuvet {

__device__ __forceinline__ unsigned shared_start() {
  extern __shared__ __align__(1024) unsigned char gpuvet_shared[];
  return static_cast<unsigned>(__cvta_generic_to_shared(gpuvet_shared));
}

__device__ __forceinline__ void barrier() {
  __syncthreads();
}

// Copies 16 bytes to shared memory, or writes zeros there where `real` is false.
__device__ __forceinline__ void copy16(unsigned to, const void* from, bool real) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(real ? 16 : 0)
               : "memory");
}
// The copies since the last commit are one group; wait until at most kPending groups are under way.
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kPending> __device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Four matrices of 8 rows of 16 bytes. Lane 8i + r gives the address of row r of matrix i; lane l
// gets of each matrix the 4 bytes l % 4 of row l / 4.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

// c (16 x 8) += a (16 x 16, bf16) * b (16 x 8, bf16).
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The value of lane (own lane ^ mask).
__device__ __forceinline__ Word exchange(Word value, unsigned mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, value, static_cast<int>(mask));
}

__device__ __forceinline__ void store_streaming(float2* to, float2 v) {
  asm volatile("st.global.cs.v2.f32 [%0], {%1,%2};" ::"l"(to), "f"(v.x), "f"(v.y) : "memory");
}

} // namespace gpuvet

#else
#include "gpu/testing/host_warps.hpp"
#endif
