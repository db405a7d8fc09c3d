// The CUDA words that core.cu uses, for a CPU: a source file that includes "gpu/kernels/core.cu"
// without nvcc gets them with it. Its kernels need no other thread (no barrier, no shuffle, no
// shared memory), so running them thread after thread gives what a GPU gives.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#define __global__ inline
#define __device__
#define __forceinline__ inline
#define __restrict__ __restrict

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
inline thread_local Dim3 threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim, gridDim;

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

// Several host threads may run parts of a grid.
template <class T> T atomicAdd(T* at, T value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
template <class T> T atomicOr(T* at, T value) {
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
template <class T> T atomicXor(T* at, T value) {
  return __atomic_fetch_xor(at, value, __ATOMIC_RELAXED);
}

namespace gpuvet {

inline thread_local unsigned host_multiprocessors = 4; // blocks are dealt to as many

// Not null: the clocks of whoever counts time instead of measuring it.
inline thread_local unsigned long long (*host_ns)() = nullptr;
inline thread_local long long (*host_cycles)() = nullptr;

inline unsigned long long global_ns() {
  if (host_ns) return host_ns();
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<unsigned long long>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
inline unsigned multiprocessor() {
  return blockIdx.x % host_multiprocessors;
}
template <class T> T load_streaming(const T* from) {
  return *from;
}
template <class T> void store_streaming(T* to, T value) {
  *to = value;
}

} // namespace gpuvet

// A clock of 1 GHz, unless somebody counts.
inline long long clock64() {
  if (gpuvet::host_cycles) return gpuvet::host_cycles();
  return static_cast<long long>(gpuvet::global_ns());
}

namespace gpuvet {

// Calls `one_thread()` for each thread of a grid, in order.
template <class OneThread> void run_on_host(Dim3 grid, Dim3 block, OneThread&& one_thread) {
  gridDim = grid;
  blockDim = block;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
        for (threadIdx.z = 0; threadIdx.z < block.z; ++threadIdx.z)
          for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y)
            for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x)
              one_thread();
}

// A kernel behind a name, as cuLaunchKernel calls it: `parameters` point to the arguments.
template <class... P, size_t... I>
void call_with(void (*kernel)(P...), void** parameters, std::index_sequence<I...>) {
  kernel(*static_cast<P*>(parameters[I])...);
}
template <class... P> void launch_on_host(void (*kernel)(P...), Dim3 grid, Dim3 block,
                                          [[maybe_unused]] void** parameters) {
  run_on_host(grid, block, [&] { call_with(kernel, parameters, std::index_sequence_for<P...>{}); });
}

} // namespace gpuvet
