// copy-to-gpu, copy-from-gpu, copy-far-node, copy-by-kernel.
#include "base/trend.hpp"
#include "gpu/work/bandwidth/host_copy.hpp"
#include "gpu/work/bandwidth/measure.hpp"
#include "gpu/work/bandwidth/steps.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

const char* figure_of(Way way) {
  return way == Way::to_gpu ? "to_gpu" : "from_gpu";
}

// A step of `--self-test` plants what the step must notice.
void plant(Bench& bench, const StepOptions& options, const HostCopy& copy, CudaStream stream,
           uint64_t seed) {
  if (options.fault != Fault::wrong_bit) return;
  const uint64_t place = seed % (copy.bytes() / 4) * 4;
  launch(bench, bench.kernel("core", "gv_flip"), 1, 32, 0, stream, copy.device() + place,
         uint32_t{1} << (seed >> 59));
  bench.call(bench.cuda.cuStreamSynchronize, stream);
}

// One sample: prepared, timed, checked. GB/s.
double sample(Bench& bench, const StepOptions& options, Gate& gate, CudaStream stream,
              HostCopy& copy, double& rate, uint64_t seed) {
  copy.prepare(seed);
  const unsigned slower = options.fault == Fault::slow_link ? 4 : 1;
  const auto bytes = static_cast<double>(copy.bytes());
  const unsigned copies = operations_for(bytes, rate, kMostBehindGate / slower);
  rate = timed_rate(gate, bench, stream, copy, copies * slower, copy.bytes()) / slower;
  plant(bench, options, copy, stream, seed);
  copy.check();
  return rate / 1e9;
}

// By the rate at 4 KiB, 16 KiB, ... up to the whole buffer; a size whose copy takes over 50 ms ends
// it. 0: no size reached half.
double half_size(Bench& bench, Gate& gate, CudaStream stream, HostCopy& copy, double full,
                 bool quick, uint64_t seed) {
  copy.prepare(seed);
  std::vector<SizePoint> points;
  for (size_t bytes = 4096; bytes <= copy.bytes(); bytes *= 4) {
    const unsigned copies = std::clamp(
        operations_for(static_cast<double>(bytes), full / (quick ? 16 : 4)), 4u, kMostBehindGate);
    std::vector<double> rates;
    for (int repeat = 0; repeat < (quick ? 1 : 3); ++repeat)
      rates.push_back(timed_rate(gate, bench, stream, copy, copies, bytes));
    points.push_back({static_cast<double>(bytes), median_of(rates)});
    if (points.back().rate >= full / 2 || static_cast<double>(bytes) / full > 0.05) break;
  }
  copy.check(
      static_cast<size_t>(points.back().bytes)); // the last began where all did, and is the longest
  return size_that_reaches(points, full / 2);
}

void one_way(Bench& bench, const StepOptions& options, Way way) {
  const bool quick = options.seconds < kQuick_s;
  NodesOfGpu machine = nodes_of_gpu(bench);
  HostSide side(machine, machine.near, 512 * kMiB);
  Gate gate(bench);
  Stream stream(bench);
  bench.tell.word("pattern", kPattern);
  double rate = first_look(bench, gate, stream, side, way, options.seconds);
  BufferSize size = link_buffer(options.seconds, rate, room_of(bench), 1, 1);
  bench.tell.word("buffer", size.word);
  HostCopy copy(bench, way, side.pinned(bench, size.bytes));
  side.tell(bench, copy.host(), "near");

  auto medians = measure(bench, options, {options.seconds, 0, 0.9}, {{"rate"}}, [&](uint64_t seed) {
    return std::vector<double>{sample(bench, options, gate, stream, copy, rate, seed)};
  });
  if (options.fault != Fault::none) return;
  const double half =
      half_size(bench, gate, stream, copy, medians.at(0) * 1e9, quick, options.seed);
  if (half > 0) bench.tell.reading("half_size", "bytes", half);
}

// Both directions one after the other into the readings to_gpu and from_gpu.
void each_way(Bench& bench, const StepOptions& options, HostSide& side, Carrier carrier,
              const char* where, Span span) {
  Gate gate(bench);
  Stream stream(bench);
  const double middle = (span.from + span.to) / 2;
  for (Way way : {Way::to_gpu, Way::from_gpu}) {
    double rate = first_look(bench, gate, stream, side, way, options.seconds);
    BufferSize size = link_buffer(options.seconds, rate, room_of(bench), 1, 1);
    HostCopy copy(bench, way, side.pinned(bench, size.bytes), carrier);
    if (way == Way::to_gpu) {
      bench.tell.word("buffer", size.word);
      side.tell(bench, copy.host(), where);
    }
    const bool first = way == Way::to_gpu;
    Span mine = {span.seconds / 2, first ? span.from : middle, first ? middle : span.to};
    measure(bench, options, mine, {{figure_of(way)}}, [&](uint64_t seed) {
      return std::vector<double>{sample(bench, options, gate, stream, copy, rate, seed)};
    });
  }
}

} // namespace

void copy_to_gpu(Bench& bench, const StepOptions& options) {
  one_way(bench, options, Way::to_gpu);
}

void copy_from_gpu(Bench& bench, const StepOptions& options) {
  one_way(bench, options, Way::from_gpu);
}

void copy_by_kernel(Bench& bench, const StepOptions& options) {
  bench.tell.word("pattern", kPattern);
  NodesOfGpu machine = nodes_of_gpu(bench);
  HostSide side(machine, machine.near, 512 * kMiB);
  each_way(bench, options, side, Carrier::kernel, "near", {options.seconds, 0, 1});
}

void copy_far_node(Bench& bench, const StepOptions& options) {
  NodesOfGpu machine = nodes_of_gpu(bench);
  if (machine.nodes.size() < 2)
    Bench::unsupported(machine.nodes.empty() ? machine.why_unknown
                                             : "this machine has one NUMA node");
  if (!machine.near) Bench::unsupported(machine.why_unknown);
  bench.tell.word("pattern", kPattern);
  const double far = static_cast<double>(machine.nodes.size()) - 1;
  double done = 0;
  for (const NumaNode& node : machine.nodes) {
    if (node.number == machine.near->number) continue;
    HostSide side(machine, node, 512 * kMiB);
    if (!side.placed()) // else near memory would pass for far memory
      Bench::unsupported("memory on another NUMA node was refused: " + side.problem());
    each_way(bench, options, side, Carrier::copy_engine, "far",
             {options.seconds / far, done / far, (done + 1) / far});
    done += 1;
  }
}

} // namespace gpuvet
