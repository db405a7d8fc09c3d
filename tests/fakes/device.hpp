// The GPUs behind the fake libcuda: device memory is memory of this process, kernels of
// src/gpu/kernels/core.cu run on the CPU, and time is counted, not measured, so that what is timed
// by events comes out the same everywhere.
//
// What an operation takes follows from steered rates (GB/s of 10^9 bytes), each for all GPUs or as
// "GPU:VALUE" for one: pcie=55 memory=4000 peer=390, and tflops=700 launch_us=2.2 node_us=1.2.
//   free=MB           of device memory (64)            nopeer=1     no direct access between GPUs
//   corrupt=WHAT      a bit is wrong after each WHAT: a kernel, a copy ("cuMemcpyHtoDAsync_v2");
//                     "peer-write": writes into another GPU's memory get lost
//   fault=WHAT:CODE   the kernel WHAT breaks the context: from then on every call gives CODE
//   nojit=1           no compiler for PTX              oldptx=1     PTX is too new for this driver
#pragma once

#include "gpu/cuda_api.hpp"
#include "steering.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpuvet {

struct CudaContextHandle {
  int device = 0;
};
struct CudaStreamHandle {
  int device = 0;
  double now_ns = 0;
  std::vector<std::function<void(CudaStreamHandle&)>>* capture = nullptr;
  std::map<const volatile unsigned*, unsigned> waits; // for these words to have these values
};
struct CudaEventHandle {
  double at_ns = 0;
};
struct CudaGraphHandle {
  std::vector<std::function<void(CudaStreamHandle&)>> nodes;
};
struct CudaGraphExecHandle {
  std::vector<std::function<void(CudaStreamHandle&)>> nodes;
};
struct CudaModuleHandle {
  std::string text;
};
struct CudaFunctionHandle {
  std::string name;
};

} // namespace gpuvet

namespace fake {

struct Block { // of memory that was allocated
  size_t bytes = 0;
  int device = 0;
  bool pinned = false;
};

struct Device {
  gpuvet::CudaContextHandle context;
  gpuvet::CudaStreamHandle default_stream;
  size_t used = 0;
  int broken = 0; // a code that every call gives
};

const Steering& steering();
Device& device(int ordinal);
int current_device(); // of this thread; -1: none
std::map<uintptr_t, Block>& blocks();

// The block that an address lies in; null: none, which is a mistake of the caller.
const Block* block_of(uintptr_t address, size_t bytes);

// "KEY=VALUE" or "KEY=GPU:VALUE".
double rate(const char* key, int gpu, double otherwise);
bool told(const char* key, const std::string& what, int gpu);

// What the fake makes of a corrupt=WHAT.
void spoil(const std::string& what, int gpu, void* data, size_t bytes);

gpuvet::CudaStreamHandle& stream_of(gpuvet::CudaStream stream);

// Runs `work` now, or at each launch of the graph that is captured.
void enqueue(gpuvet::CudaStream stream, std::function<void(gpuvet::CudaStreamHandle&)> work);

int enter(const char* call); // 0, or what the call returns

// In cuda_kernels.cpp: 500 when there is no such kernel.
bool has_kernel(const std::string& name);
void run_kernel(const std::string& name, gpuvet::CudaStreamHandle& stream, const unsigned grid[3],
                const unsigned block[3], void** arguments);
// Copies of the arguments, which outlive the call.
std::vector<std::vector<unsigned char>> keep_arguments(const std::string& name, void** arguments);

} // namespace fake
