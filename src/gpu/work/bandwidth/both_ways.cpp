// copy-both-ways, copy-pageable.
#include "base/sampling.hpp"
#include "gpu/work/bandwidth/host_copy.hpp"
#include "gpu/work/bandwidth/host_words.hpp"
#include "gpu/work/bandwidth/measure.hpp"
#include "gpu/work/bandwidth/overlap.hpp"
#include "gpu/work/bandwidth/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

namespace gpuvet {
namespace {

Lane lane_of(CudaStream stream, HostCopy& copy, double rate) {
  return {stream, [stream, &copy] { copy.enqueue(stream); }, static_cast<double>(copy.bytes()),
          rate};
}

// The clock that no daemon adjusts.
double raw_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Memory as programs have it without asking for more. The driver copies it through buffers of its
// own with the CPU, so the call may only return when all is done: no gate, and the host's clock.
class PageableCopy {
 public:
  PageableCopy(Bench& bench, size_t bytes)
      : bench_(bench), host_(bytes / 8), device_(bench, bytes), stream_(bench), mismatches_(bench),
        fill_(bench.kernel("core", "gv_fill")), check_(bench.kernel("core", "gv_check")) {}

  // GB/s
  double sample(Way way, uint64_t seed) {
    prepare(way, seed);
    const auto bytes = static_cast<double>(host_.size() * 8);
    const unsigned copies = operations_for(bytes, rate_);
    bench_.tell.about_to_call(way == Way::to_gpu ? bench_.cuda.cuMemcpyHtoDAsync_v2.name
                                                 : bench_.cuda.cuMemcpyDtoHAsync_v2.name);
    const double began = raw_seconds();
    for (unsigned at = 0; at < copies; ++at)
      copy(way);
    bench_.quietly(bench_.cuda.cuStreamSynchronize, CudaStream{stream_});
    rate_ = bytes * copies / std::max(raw_seconds() - began, 1e-9);
    check(way, seed);
    return rate_ / 1e9;
  }

 private:
  void on_device(CudaFunction kernel, uint64_t seed, uint64_t flip) {
    launch(bench_, kernel, blocks_for(bench_, host_.size()), 256, 0, stream_, device_.at(),
           uint64_t{host_.size()}, uint64_t{0}, seed, flip);
    bench_.call(bench_.cuda.cuStreamSynchronize, CudaStream{stream_});
  }
  void prepare(Way way, uint64_t seed) {
    const bool to_gpu = way == Way::to_gpu;
    fill_words(host_.data(), host_.size(), seed, to_gpu ? 0 : ~uint64_t{0});
    on_device(fill_, seed, to_gpu ? ~uint64_t{0} : 0);
  }
  void copy(Way way) {
    if (way == Way::to_gpu)
      bench_.quietly(bench_.cuda.cuMemcpyHtoDAsync_v2, device_.at(),
                     static_cast<const void*>(host_.data()), host_.size() * 8, CudaStream{stream_});
    else
      bench_.quietly(bench_.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(host_.data()),
                     device_.at(), host_.size() * 8, CudaStream{stream_});
  }
  void check(Way way, uint64_t seed) {
    std::string found;
    if (way == Way::to_gpu) {
      mismatches_.clear(stream_);
      launch(bench_, check_, blocks_for(bench_, host_.size()), 256, 0, stream_, device_.at(),
             uint64_t{host_.size()}, uint64_t{0}, seed, uint64_t{0}, mismatches_.at());
      found = describe(mismatches_.read(stream_));
    } else {
      found = describe_host(check_words(host_.data(), host_.size(), seed));
    }
    if (found.empty()) return;
    bench_.tell.word("first_place", found);
    Bench::wrong(fmt::format("what was copied {} pageable memory arrived wrong: {}",
                             way == Way::to_gpu ? "to the GPU from" : "from the GPU to", found));
  }

  Bench& bench_;
  std::vector<uint64_t> host_;
  DeviceMemory device_;
  Stream stream_;
  MismatchBox mismatches_;
  CudaFunction fill_, check_;
  double rate_ = 0; // bytes per second, of the last sample
};

} // namespace

void copy_both_ways(Bench& bench, const StepOptions& options) {
  NodesOfGpu machine = nodes_of_gpu(bench);
  HostSide side(machine, machine.near, 1024 * kMiB);
  Gate gate(bench);
  Stream up(bench), down(bench);
  bench.tell.word("pattern", kPattern);
  const double rate = first_look(bench, gate, up, side, Way::to_gpu, options.seconds);
  BufferSize size = link_buffer(options.seconds, rate, room_of(bench), 2, 2);
  bench.tell.word("buffer", size.word);
  HostCopy to(bench, Way::to_gpu, side.pinned(bench, size.bytes));
  HostCopy from(bench, Way::from_gpu, side.pinned(bench, size.bytes));
  side.tell(bench, to.host(), "near");
  from.enqueue(down); // nothing may happen for the first time behind a gate
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{down});

  Lane to_lane = lane_of(up, to, rate), from_lane = lane_of(down, from, rate);
  measure(bench, options, {options.seconds, 0, 1}, {{"to_gpu"}, {"from_gpu"}, {"sum"}},
          [&](uint64_t seed) {
            to.prepare(seed);
            from.prepare(sample_seed(seed, 1));
            const double up_rate = rate_while_busy(gate, bench, to_lane, from_lane);
            const double down_rate = rate_while_busy(gate, bench, from_lane, to_lane);
            to.check();
            from.check();
            return std::vector<double>{up_rate / 1e9, down_rate / 1e9, (up_rate + down_rate) / 1e9};
          });
}

void copy_pageable(Bench& bench, const StepOptions& options) {
  NodesOfGpu machine = nodes_of_gpu(bench);
  HostSide side(machine, machine.near, 512 * kMiB);
  bench.tell.word("pattern", kPattern);
  double rate = 0;
  {
    Gate gate(bench);
    Stream stream(bench);
    rate = first_look(bench, gate, stream, side, Way::to_gpu, options.seconds);
  }
  BufferSize size = link_buffer(options.seconds, rate, room_of(bench), 1, 1);
  bench.tell.word("buffer", size.word);
  bench.tell.word("memory", "pageable");
  PageableCopy copy(bench, size.bytes);
  measure(bench, options, {options.seconds / 2, 0, 0.5}, {{"to_gpu"}},
          [&](uint64_t seed) { return std::vector<double>{copy.sample(Way::to_gpu, seed)}; });
  measure(bench, options, {options.seconds / 2, 0.5, 1}, {{"from_gpu"}},
          [&](uint64_t seed) { return std::vector<double>{copy.sample(Way::from_gpu, seed)}; });
}

} // namespace gpuvet
