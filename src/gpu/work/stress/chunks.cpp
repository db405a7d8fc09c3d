#include "gpu/work/stress/chunks.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint64_t kGrain = 2 << 20; // of device memory: nothing smaller is mapped
constexpr uint64_t kLargest = 1 << 30;
constexpr uint64_t kReserve = 400'000'000;
constexpr double kReserveShare = 0.02;
constexpr double kLeastShare = 0.9;

} // namespace

// A GPU with little memory in all gives half of it: 400 MB would be everything.
uint64_t reserve_of(uint64_t free_bytes) {
  const auto share = static_cast<uint64_t>(kReserveShare * static_cast<double>(free_bytes));
  return std::min(std::max(kReserve, share), free_bytes / 2);
}

bool is_enough(const MemoryChunks& memory) {
  return memory.bytes > 0 &&
         static_cast<double>(memory.bytes) >= kLeastShare * static_cast<double>(memory.wanted);
}

MemoryChunks all_free_memory(Bench& bench) {
  size_t free = 0, total = 0;
  bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
  MemoryChunks made;
  made.wanted = (free - reserve_of(free)) / kGrain * kGrain;
  for (uint64_t size = std::min(kLargest, made.wanted); size >= kGrain;) {
    if (made.wanted - made.bytes < size) {
      size = (made.wanted - made.bytes) / kGrain * kGrain;
      continue;
    }
    try {
      made.chunks.emplace_back(bench, size);
      made.bytes += size;
    } catch (const StepStopped& refused) {
      if (refused.code != kCudaOutOfMemory) throw;
      ++made.refused;
      size = size / 2 / kGrain * kGrain;
    }
  }
  return made;
}

} // namespace gpuvet
