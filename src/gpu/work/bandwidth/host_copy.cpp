#include "gpu/work/bandwidth/host_copy.hpp"

#include "base/sampling.hpp"
#include "gpu/work/bandwidth/host_words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace gpuvet {
namespace {

constexpr uint64_t kAllBits = ~uint64_t{0};

} // namespace

HostCopy::HostCopy(Bench& bench, Way way, HostMemory&& host, Carrier carrier)
    : bench_(bench), way_(way), carrier_(carrier), host_(std::move(host)),
      device_(bench, host_.bytes()), stream_(bench), mismatches_(bench),
      fill_(bench.kernel("core", "gv_fill")), check_(bench.kernel("core", "gv_check")),
      copy_(bench.kernel("core", "gv_copy")), grid_(blocks_for(bench, host_.bytes() / 8)) {}

void HostCopy::device_fill(uint64_t seed, uint64_t flip) {
  const uint64_t words = bytes() / 8;
  launch(bench_, fill_, grid_, 256, 0, stream_, device_.at(), words, uint64_t{0}, seed, flip);
  bench_.call(bench_.cuda.cuStreamSynchronize, CudaStream{stream_});
}

void HostCopy::prepare(uint64_t seed) {
  seed_ = seed;
  if (way_ == Way::to_gpu) {
    fill_words(host_.as<uint64_t>(), bytes() / 8, seed);
    device_fill(seed, kAllBits); // costs nothing there
    return;
  }
  device_fill(seed, 0);
  if (!std::exchange(poisoned_, true))
    fill_words(host_.as<uint64_t>(), bytes() / 8, seed, kAllBits);
}

void HostCopy::enqueue(CudaStream stream, size_t some) {
  const CudaApi& cuda = bench_.cuda;
  const bool to_gpu = way_ == Way::to_gpu;
  if (carrier_ == Carrier::copy_engine) {
    if (to_gpu)
      bench_.quietly(cuda.cuMemcpyHtoDAsync_v2, device_.at(), host_.as<const void>(), some, stream);
    else
      bench_.quietly(cuda.cuMemcpyDtoHAsync_v2, host_.as(), device_.at(), some, stream);
    return;
  }
  launch(bench_, copy_, grid_, 256, 0, stream, to_gpu ? device_.at() : host_.on_device(),
         to_gpu ? host_.on_device() : device_.at(), uint64_t{some / 16});
}

void HostCopy::check(size_t some) {
  const uint64_t words = some / 8;
  std::string found;
  if (way_ == Way::to_gpu) {
    mismatches_.clear(stream_);
    launch(bench_, check_, grid_, 256, 0, stream_, device_.at(), words, uint64_t{0}, seed_,
           uint64_t{0}, mismatches_.at());
    found = describe(mismatches_.read(stream_));
  } else {
    found = describe_host(check_words(host_.as<uint64_t>(), words, seed_));
  }
  if (found.empty()) return;
  bench_.tell.word("first_place", found);
  Bench::wrong(fmt::format("what was copied {} arrived wrong: {}",
                           way_ == Way::to_gpu ? "to the GPU" : "from the GPU", found));
}

double timed_rate(Gate& gate, Bench& bench, CudaStream stream, HostCopy& copy, unsigned copies,
                  size_t bytes) {
  double seconds = timed_behind(gate, bench, stream, [&] {
    for (unsigned at = 0; at < copies; ++at)
      copy.enqueue(stream, bytes);
  });
  return static_cast<double>(bytes) * copies / seconds;
}

double first_look(Bench& bench, Gate& gate, CudaStream stream, HostSide& side, Way way,
                  double test_seconds) {
  const double least_s = test_seconds < kQuick_s ? 0.05 : 0.3;
  constexpr size_t kLook = 8 * kMiB;
  const Room room = room_of(bench);
  const size_t most = std::max<size_t>(room.device_free / 8 / 65536 * 65536, 65536);
  HostCopy copy(bench, way, side.pinned(bench, std::min(kLook, most)));
  copy.enqueue(stream); // nothing may happen for the first time behind a gate
  bench.call(bench.cuda.cuStreamSynchronize, stream);
  const double began = bench.tell.seconds();
  double last = 0;
  for (;;) {
    const double now = timed_rate(gate, bench, stream, copy, 2, copy.bytes());
    const double elapsed = bench.tell.seconds() - began;
    if ((elapsed > least_s && agree_within(last, now, 0.05)) || elapsed > 1)
      return std::max(last, now);
    last = now;
  }
}

} // namespace gpuvet
