// gv_clock: a load of a length that the GPU itself tells, in cycles and in nanoseconds.
#pragma once

#include "gpu/work/pieces.hpp"

namespace gpuvet {

class ClockKernel {
 public:
  struct Result {
    double cycles = 0, ns = 0;
  };

  explicit ClockKernel(Bench& bench);

  uint64_t rounds_for(CudaStream stream, double seconds); // by a short run
  void enqueue(CudaStream stream, uint64_t rounds);       // on all multiprocessors
  Result read(CudaStream stream); // of the last run; throws when it computed wrongly
  Result run(CudaStream stream, uint64_t rounds);

 private:
  Bench& bench_;
  CudaFunction kernel_;
  DeviceMemory out_;
  unsigned blocks_;
};

} // namespace gpuvet
