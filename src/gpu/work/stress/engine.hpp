// Who multiplies: one of our kernels, or a library of the installation. The load (load.hpp) and its
// checks are the same for all of them.
#pragma once

#include "gpu/work/pieces.hpp"
#include "gpu/work/stress/product.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuvet {

struct ProductCall {
  CudaPointer a = 0, b = 0, c = 0;
  CudaPointer hashes = 0;          // TileHash of each tile, cleared; 0: not wanted
  CudaPointer multiprocessors = 0; // uint32_t of each tile: who computed it
  CudaStream stream = nullptr;
};

struct ProductEngine {
  std::string name; // "own kernel sm_90a", "cuBLASLt 13.1.0"
  // Hashes the tiles while they are still in registers. Otherwise a kernel of ours reads C again.
  bool hashes_itself = false;
  std::function<void(const ProductCall&)> multiply; // enqueues; the shape is fixed when it is made
};

// How gv_gemm of gemm_sm80.cu is launched; engine_test.cpp compares it with what its image says.
constexpr unsigned kAmpereThreads = 256, kAmpereShared = 98'304;

// Our best kernels for this GPU, which differ in how their blocks work together: which is faster
// depends on the GPU. Throws StepStopped, unsupported, where there is none.
std::vector<ProductEngine> own_engines(Bench& bench, const ProductShape& shape);

// The blob whose kernels are the best for this GPU: "gemm_sm90a", "gemm_sm80"; throws likewise.
std::string best_blob(const Bench& bench);

// gv_pipe of that blob: one block on each multiprocessor.
struct PipeLaunch {
  std::string name;
  CudaFunction function = nullptr;
  unsigned threads = 0;
};
PipeLaunch pipe_launch(Bench& bench);

} // namespace gpuvet
