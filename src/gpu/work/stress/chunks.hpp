// As much of the GPU's memory as can be had, in pieces: one that is refused costs only itself.
#pragma once

#include "gpu/work/pieces.hpp"

#include <vector>

namespace gpuvet {

struct MemoryChunks {
  std::vector<DeviceMemory> chunks;
  uint64_t bytes = 0;   // of all of them
  uint64_t wanted = 0;  // of what was free, less what others need
  unsigned refused = 0; // allocations
};

// What is left to others: the driver allocates for kernels and contexts while the test runs.
uint64_t reserve_of(uint64_t free_bytes);

// With less than nine tenths of what was free nothing is proved.
bool is_enough(const MemoryChunks& memory);

MemoryChunks all_free_memory(Bench& bench);

} // namespace gpuvet
