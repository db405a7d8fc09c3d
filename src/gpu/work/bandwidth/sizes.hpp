// How much a bandwidth test moves at a time: as much as gives a rate that is not rounded by the
// clock, as little as memory and a slow link allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gpuvet {

inline constexpr size_t kMiB = size_t{1} << 20;
inline constexpr double kSample_s = 0.02;       // events count in half microseconds: 0.005 %
inline constexpr unsigned kMostBehindGate = 48; // operations of one test; a queue holds more
inline constexpr double kQuick_s = 1;           // a step that has less measures in small buffers

struct Room {
  uint64_t device_free = 0;               // bytes
  std::optional<uint64_t> host_available; // bytes; nullopt: not told
};

struct BufferSize {
  size_t bytes = 0;
  std::string word; // "512 MiB", "16 MiB, since the GPU has 64 MiB free"
};

// Of each buffer of a test of the link. `rate`: bytes per second as a first look saw it; a copy
// shall not take more than 50 ms, but no buffer is smaller than 32 MiB for that.
BufferSize link_buffer(double seconds, double rate, const Room& room, unsigned on_device,
                       unsigned on_host);

struct MemoryBuffers {
  unsigned count = 0;
  size_t bytes = 0;   // of each; a whole number of segments
  size_t segment = 0; // bytes that repeat, so that the CPU has to sum up no more
  std::string word;
};

// For tests of the GPU's own memory: each at least 256 MiB and four times the L2, and large enough
// that starting a kernel does not count.
MemoryBuffers memory_buffers(double seconds, uint64_t l2_bytes, uint64_t device_free);

// Operations that together take a sample's time.
unsigned operations_for(double bytes, double rate, unsigned most = kMostBehindGate);

std::string mib_text(size_t bytes); // "512 MiB", "64 KiB"

} // namespace gpuvet
