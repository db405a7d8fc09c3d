// What core.cu needs of a GPU beyond C++: a clock, the number of the multiprocessor, and loads and
// stores that pass the caches by. On a host the same names come from gpu/testing/host_kernels.hpp.
#pragma once

#include "gpu/kernels/kernels.hpp"
#include "gpu/kernels/mix.hpp"

#ifdef __CUDACC__

namespace gpuvet {

__device__ __forceinline__ Word global_ns() {
  Word ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__device__ __forceinline__ unsigned multiprocessor() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// The compiler's own __ldcs may be moved behind a store to the same place; these stay where they
// are.
__device__ __forceinline__ Word load_streaming(const Word* from) {
  Word v;
  asm volatile("ld.global.cs.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
  return v;
}
__device__ __forceinline__ uint4 load_streaming(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.cs.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ __forceinline__ float4 load_streaming(const float4* from) {
  float4 v;
  asm volatile("ld.global.cs.v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from)
               : "memory");
  return v;
}

__device__ __forceinline__ void store_streaming(Word* to, Word v) {
  asm volatile("st.global.cs.u64 [%0], %1;" ::"l"(to), "l"(v) : "memory");
}
__device__ __forceinline__ void store_streaming(uint4* to, uint4 v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}
__device__ __forceinline__ void store_streaming(float4* to, float4 v) {
  asm volatile("st.global.cs.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to), "f"(v.x), "f"(v.y), "f"(v.z),
               "f"(v.w)
               : "memory");
}

} // namespace gpuvet

#else
#include "gpu/testing/host_kernels.hpp"
#endif
