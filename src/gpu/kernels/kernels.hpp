// Kernels that gpuvet carries: their parameters as the host and the device both see them, and the
// images built from the sources in this folder (tools/kernels rebuilds them with nvcc; a test
// compares). core.ptx runs on every GPU since Maxwell; the others need the family in their name.
//
// Kernels of core.cu use no barrier, no shuffle and no shared memory: each thread stands by itself,
// so that the same source runs on a CPU in tests (tests/fakes).
#pragma once

#ifndef __CUDACC__
#include <cstdint>
#include <string_view>
#include <vector>
#else
#include <stdint.h>
#endif

namespace gpuvet {

// Where data were not what was written. The first kKept places are kept in full.
struct Mismatches {
  static constexpr unsigned kKept = 16;
  unsigned long long count; // words
  unsigned long long bits;  // OR of all differences
  struct Place {
    unsigned long long index, got, wanted; // word of 8 bytes, from the start of the buffer
    unsigned multiprocessor, padding;
  } places[kKept];
};

// Of a tile of C: the sum and the XOR of its words, each mixed with its place.
struct TileHash {
  unsigned long long sum, mixed;
};

// Places of 16 bytes that a thread of each kernel takes from one piece: a block of n threads goes
// through pieces of n times as many.
constexpr unsigned kReadPlaces = 16, kWritePlaces = 8, kCopyPlaces = 8, kTriadPlaces = 4;

constexpr unsigned kReadSums = 64;   // words of gv_read's `sum`
constexpr unsigned kWrongTiles = 15; // tile numbers behind the count of gv_compare_hashes' `wrong`

#ifndef __CUDACC__
struct KernelImage {
  std::string_view blob;  // "core", "gemm_sm80", "gemm_sm90a"
  std::string_view kind;  // "ptx" or "cubin"
  uint32_t sm = 0;        // compute capability x 10 of its target
  bool exact = false;     // target with `a`: that one only
  std::string_view bytes; // PTX ends in a zero byte, which is not counted
};

const std::vector<KernelImage>& kernel_images();
#endif

} // namespace gpuvet
