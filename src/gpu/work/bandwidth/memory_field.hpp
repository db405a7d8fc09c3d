// Buffers of the GPU's memory that are larger than its caches, and what fills and checks them.
#pragma once

#include "gpu/work/bandwidth/sizes.hpp"
#include "gpu/work/pieces.hpp"

#include <cstdint>
#include <vector>

namespace gpuvet {

// What the kernels that measure share.
struct MemoryField {
  MemoryField(Bench& on, const MemoryBuffers& wanted);

  uint64_t words() const { return size.bytes / 8; }
  uint64_t n16() const { return size.bytes / 16; }
  CudaPointer buffer(unsigned nth) const { return buffers[nth % size.count].at(); }

  // Every segment of a buffer holds the words of the seed.
  void fill(CudaPointer to, uint64_t seed, uint64_t flip);
  void check(CudaPointer from, uint64_t seed, uint64_t flip);
  // Every word is the same.
  void set(CudaPointer to, uint64_t value);
  void check_set(CudaPointer from, uint64_t value);
  // Throws when one of the checks found something; tells where as the word first_place.
  void require_right(const char* what);

  Bench& bench;
  const MemoryBuffers size;
  std::vector<DeviceMemory> buffers;
  Gate gate;
  Stream stream;
  MismatchBox mismatches;
  const unsigned multiprocessors;

 private:
  CudaFunction fill_, check_, pattern_, check_pattern_;
};

} // namespace gpuvet
