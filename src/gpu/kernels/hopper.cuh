// The instructions of Hopper that C++ has no word for, one function each. Addresses are 32-bit
// addresses in shared memory. PTX ISA 8.0 has all of them. On a host the same names come from
// gpu/testing/host_hopper.hpp, which does what the manual says that each does.
#pragma once

#include "gpu/kernels/device.hpp"
#include "gpu/kernels/gemm_sm90a_shape.hpp"

#ifdef __CUDACC__

#define GPUVET_UNROLL _Pragma("unroll")
#define GPUVET_NO_UNROLL _Pragma("unroll 1")

namespace gpuvet::sm90a {

struct alignas(128) TensorMap { // CUtensorMap, never looked into
  unsigned long long words[16];
};

__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ void barrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// What was initialised is seen by the copy engine and by the other block of a pair.
__device__ __forceinline__ void barriers_are_ready() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// What threads wrote to shared memory is seen by the tensor cores.
__device__ __forceinline__ void operands_are_written() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Until the phase with this parity is over. try_wait sleeps for a while that the hardware chooses.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile("{\n"
               " .reg .pred over;\n"
               "again:\n"
               " mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
               " @over bra done;\n"
               " bra again;\n"
               "done:\n"
               "}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

// The one arrival of a producer, with how many bytes the copies will bring.
__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// At the same place in the block with this rank of the cluster, which may be our own. Not
// `.release.cluster`: that waits for all stores of the thread to reach the second-level cache, and
// what is released here was only read, by multiplications that were waited for.
__device__ __forceinline__ void barrier_arrive_at(unsigned barrier, unsigned rank) {
  asm volatile("{\n"
               " .reg .b32 there;\n"
               " mapa.shared::cluster.u32 there, %0, %1;\n"
               " mbarrier.arrive.shared::cluster.b64 _, [there];\n"
               "}" ::"r"(barrier),
               "r"(rank)
               : "memory");
}

__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

template <unsigned kCount> __device__ __forceinline__ void fewer_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <unsigned kCount> __device__ __forceinline__ void more_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

__device__ __forceinline__ void fetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// A box of the matrix, its first element at (row, inner), to shared memory.
__device__ __forceinline__ void load_box(unsigned to, const TensorMap* map, unsigned barrier,
                                         unsigned inner, unsigned row) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(map), "r"(inner), "r"(row), "r"(barrier)
               : "memory");
}

// The same to the same place in each block of `blocks` (a bit each), and told to the barrier at the
// same place there.
__device__ __forceinline__ void load_box_to(unsigned short blocks, unsigned to,
                                            const TensorMap* map, unsigned barrier, unsigned inner,
                                            unsigned row) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
               "l"(map), "r"(inner), "r"(row), "r"(barrier), "h"(blocks)
               : "memory");
}

// Before the first multiplication that touches registers or shared memory which others wrote.
__device__ __forceinline__ void multiply_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void multiply_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void multiply_wait_all_but_one() {
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
}

#define GPUVET_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define GPUVET_D16(i) GPUVET_D4(i), GPUVET_D4(i + 4), GPUVET_D4(i + 8), GPUVET_D4(i + 12)
#define GPUVET_D64(i) GPUVET_D16(i), GPUVET_D16(i + 16), GPUVET_D16(i + 32), GPUVET_D16(i + 48)
#define GPUVET_D128 GPUVET_D64(0), GPUVET_D64(64)

// Takes the accumulators, so that no use of them is moved before the wait.
__device__ __forceinline__ void multiply_wait_all(float (&d)[kAccumulators]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : GPUVET_D128::"memory");
}

// d = a * b, or d += a * b: 64 x 256 from 64 x 16 and 256 x 16, both with the inner dimension
// contiguous. The warpgroup's accumulators are not to be touched before a wait.
__device__ __forceinline__ void multiply(float (&d)[kAccumulators], unsigned long long a,
                                         unsigned long long b, unsigned add) {
  asm volatile(
      "{\n"
      " .reg .pred add;\n"
      " setp.ne.b32 add, %130, 0;\n"
      " wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {\n"
      " %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,\n"
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,\n"
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47,\n"
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63,\n"
      " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79,\n"
      " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95,\n"
      " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110,\n"
      " %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124,\n"
      " %125, %126, %127}, %128, %129, add, 1, 1, 0, 0;\n"
      "}"
      : GPUVET_D128
      : "l"(a), "l"(b), "r"(add));
}

#undef GPUVET_D128
#undef GPUVET_D64
#undef GPUVET_D16
#undef GPUVET_D4

} // namespace gpuvet::sm90a

#else
#include "gpu/testing/host_hopper.hpp"
#endif
