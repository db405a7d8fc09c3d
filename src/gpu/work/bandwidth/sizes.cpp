#include "gpu/work/bandwidth/sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

// Large ones to whole pages of the GPU; always a multiple of what kernels move at once.
size_t rounded_down(uint64_t bytes) {
  const uint64_t unit = bytes >= 4 * kMiB ? 2 * kMiB : 64 * 1024;
  return static_cast<size_t>(std::max(bytes / unit * unit, unit));
}

} // namespace

std::string mib_text(size_t bytes) {
  return bytes >= kMiB ? fmt::format("{} MiB", bytes / kMiB) : fmt::format("{} KiB", bytes / 1024);
}

BufferSize link_buffer(double seconds, double rate, const Room& room, unsigned on_device,
                       unsigned on_host) {
  BufferSize size;
  uint64_t bytes = (seconds < kQuick_s ? 128 : 512) * kMiB;
  if (seconds < kQuick_s) size.word = ", since the test is a short one";
  if (rate > 0 && rate * 0.05 < static_cast<double>(bytes)) {
    bytes = std::max<uint64_t>(static_cast<uint64_t>(rate * 0.05), 32 * kMiB);
    size.word = fmt::format(", since the link moves about {:.2g} GB/s", rate / 1e9);
  }
  // Half of what is free may be taken: other processes live on the rest.
  const uint64_t device_most = room.device_free / 2 / std::max(on_device, 1u);
  if (device_most < bytes) {
    bytes = device_most;
    size.word = fmt::format(", since the GPU has {} free", mib_text(room.device_free));
  }
  if (room.host_available && on_host > 0) {
    const uint64_t host_most = *room.host_available / 8 / on_host; // pinned: it cannot be swapped
    if (host_most < bytes) {
      bytes = host_most;
      size.word = fmt::format(", since the machine has {} of memory left for this process",
                              mib_text(*room.host_available));
    }
  }
  size.bytes = rounded_down(bytes);
  size.word = mib_text(size.bytes) + size.word;
  return size;
}

MemoryBuffers memory_buffers(double seconds, uint64_t l2_bytes, uint64_t device_free) {
  constexpr size_t kSegment = 64 * kMiB;
  const uint64_t least = std::max<uint64_t>(256 * kMiB, 4 * l2_bytes);
  const uint64_t goal = std::max<uint64_t>((seconds < kQuick_s ? 1024 : 2048) * kMiB, least);
  const uint64_t usable = device_free / 5 * 4;
  MemoryBuffers buffers;
  buffers.count = usable / 4 >= least ? 4 : 3; // the triad needs three
  uint64_t bytes = std::min(goal, usable / buffers.count);
  const bool whole = bytes >= kSegment;
  buffers.bytes = whole ? static_cast<size_t>(bytes / kSegment * kSegment) : rounded_down(bytes);
  buffers.segment = whole ? kSegment : buffers.bytes;
  buffers.word = fmt::format("{} of {}", buffers.count, mib_text(buffers.bytes));
  if (buffers.bytes < least)
    buffers.word += fmt::format(", less than {} since the GPU has {} free", mib_text(least),
                                mib_text(device_free));
  return buffers;
}

unsigned operations_for(double bytes, double rate, unsigned most) {
  const double wanted = std::ceil(kSample_s * rate / bytes);
  return static_cast<unsigned>(std::clamp(wanted, 1.0, static_cast<double>(most)));
}

} // namespace gpuvet
