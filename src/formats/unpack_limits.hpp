// How far compressed input may expand before gpuvet calls it a decompression bomb. The limits are
// far above real software: the most compressible GPU libraries reach 40:1, a file of zeros 1032:1
// under deflate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuvet {

namespace limits {
constexpr uint64_t member_bytes = uint64_t{64} << 30; // one file, expanded
constexpr uint64_t ratio = 4096;                      // expanded : stored ...
constexpr uint64_t ratio_free = uint64_t{64} << 20;   // ... beyond this much
constexpr uint64_t total_bytes = uint64_t{512} << 30; // everything unpacked from one input
constexpr uint64_t members = uint64_t{4} << 20;       // entries of one archive
constexpr size_t path_bytes = 4096;                   // one member's name
constexpr int depth = 4;                              // archives inside archives
constexpr size_t spool_memory = size_t{64} << 20;     // larger goes to a temporary file
} // namespace limits

// The most that `stored` bytes of input may become.
constexpr uint64_t most_expanded(uint64_t stored) {
  uint64_t most =
      stored > limits::member_bytes / limits::ratio ? limits::member_bytes : stored * limits::ratio;
  return std::min(most + limits::ratio_free, limits::member_bytes);
}

// What may still be unpacked from one input, however it is nested.
struct Budget {
  uint64_t left = limits::total_bytes;

  bool spend(uint64_t n) {
    if (n > left) return false;
    left -= n;
    return true;
  }
};

inline constexpr std::string_view kBombText =
    "the content expands far more than real data does; refused as a decompression bomb";

} // namespace gpuvet
