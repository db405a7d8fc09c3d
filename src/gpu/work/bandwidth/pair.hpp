// Two GPUs in one process: whose context is current decides where memory is made and kernels run.
#pragma once

#include "gpu/work/pieces.hpp"

#include <cstdint>
#include <string>

namespace gpuvet {

void make_current(Bench& bench);

// Another GPU's bench, made once in a process: a context takes half a second to make. The context
// that was current stays current.
Bench& other_bench(Bench& here, int ordinal);

// Direct access is switched on both ways where the driver says that there is some. The destructor
// makes the first GPU's context current.
class Pair {
 public:
  Pair(Bench& first, int peer);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair();

  Bench& here;
  Bench& there;
  bool direct = false;
  std::string why_not; // direct

  bool native_atomics() const; // over the link

 private:
  bool enable(Bench& from, Bench& to);
};

// One end: memory, a stream, and kernels that run on the GPU which owns them.
class End {
 public:
  End(Bench& on, size_t bytes);

  // These run on this GPU; `at` may be memory of the other. They wait until it is done.
  void fill(CudaPointer at, uint64_t seed, uint64_t flip = 0);
  Mismatches check(CudaPointer at, uint64_t seed);

  Bench& bench;
  Stream stream;
  DeviceMemory memory;

 private:
  MismatchBox mismatches_;
  CudaFunction fill_, check_;
};

} // namespace gpuvet
