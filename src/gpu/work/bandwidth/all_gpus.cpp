// copy-all-gpus: what each GPU's link reaches while all others copy too. Shared switches, root
// ports and the host's memory show here.
#include "base/sampling.hpp"
#include "base/trend.hpp"
#include "gpu/work/bandwidth/host_copy.hpp"
#include "gpu/work/bandwidth/measure.hpp"
#include "gpu/work/bandwidth/pair.hpp"
#include "gpu/work/bandwidth/steps.hpp"

#include <algorithm>
#include <memory>

namespace gpuvet {
namespace {

constexpr double kWindow_s = 0.1; // long against the microseconds between the first and last start
constexpr size_t kMostBytes = 128 * kMiB; // pinned, of each GPU

// One GPU at work.
struct Station {
  Station(Bench& on, Way way, HostMemory&& host)
      : bench(on), stream(on), begin(on), end(on), copy(on, way, std::move(host)), gate(on) {}

  void enqueue() {
    make_current(bench);
    const double wanted = kWindow_s * rate / static_cast<double>(copy.bytes());
    copies = static_cast<unsigned>(std::clamp(wanted, 1.0, double{kMostBehindGate}));
    gate.hold(stream);
    bench.quietly(bench.cuda.cuEventRecord, CudaEvent{begin}, CudaStream{stream});
    for (unsigned at = 0; at < copies; ++at)
      copy.enqueue(stream);
    bench.quietly(bench.cuda.cuEventRecord, CudaEvent{end}, CudaStream{stream});
  }
  void finish() {
    make_current(bench);
    bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
    gate.require_held();
    rate = static_cast<double>(copy.bytes()) * copies / seconds_between(bench, begin, end);
  }

  Bench& bench;
  Stream stream;
  Event begin, end;
  HostCopy copy;
  Gate gate; // goes first, and opens: freeing memory waits for the stream
  unsigned copies = 0;
  double rate = 0; // bytes per second, as last seen
};

std::unique_ptr<Station> station(Bench& bench, Way way, unsigned gpus) {
  make_current(bench);
  NodesOfGpu machine = nodes_of_gpu(bench);
  HostSide side(machine, machine.near, kMostBytes);
  double rate = 0;
  {
    Gate gate(bench);
    Stream stream(bench);
    rate = first_look(bench, gate, stream, side, way, 0);
  }
  BufferSize size = link_buffer(kQuick_s, rate, room_of(bench), 1, gpus);
  auto made =
      std::make_unique<Station>(bench, way, side.pinned(bench, std::min(size.bytes, kMostBytes)));
  made->rate = rate;
  return made;
}

// Each GPU copies for the time that its last rate lets expect, so that all end together.
void round(std::vector<std::unique_ptr<Station>>& stations, uint64_t seed) {
  for (size_t at = 0; at < stations.size(); ++at) {
    make_current(stations[at]->bench);
    stations[at]->copy.prepare(sample_seed(seed, at));
  }
  struct Open { // also when a call fails: freeing the memory of one may wait for all
    std::vector<std::unique_ptr<Station>>& stations;
    ~Open() {
      for (auto& one : stations)
        one->gate.open();
    }
  };
  {
    Open open{stations};
    for (auto& one : stations)
      one->enqueue();
  }
  for (auto& one : stations)
    one->finish();
  for (auto& one : stations) {
    make_current(one->bench);
    one->copy.check();
  }
}

// The median of some rounds, of each GPU.
void all_one_way(Bench& bench, const StepOptions& options, Way way, double from) {
  constexpr size_t kFewest = 3;
  const char* name = way == Way::to_gpu ? "to_gpu" : "from_gpu";
  std::vector<std::unique_ptr<Station>> stations;
  for (int ordinal : options.all)
    stations.push_back(
        station(other_bench(bench, ordinal), way, static_cast<unsigned>(options.all.size())));
  bench.tell.word("buffer", mib_text(stations.front()->copy.bytes()) + " for each GPU");

  SamplingPlan plan;
  plan.seconds = options.seconds / 2;
  const double began = bench.tell.seconds();
  const uint64_t seed = sample_seed(options.seed, way == Way::to_gpu ? 0 : 1);
  std::vector<std::vector<double>> rates(stations.size());
  round(stations, seed); // the rates that they have together; warms up, too
  for (uint64_t nth = 1;; ++nth) {
    round(stations, sample_seed(seed, nth));
    double sum = 0;
    for (size_t at = 0; at < stations.size(); ++at) {
      rates[at].push_back(stations[at]->rate / 1e9);
      sum += stations[at]->rate / 1e9;
    }
    const double elapsed = bench.tell.seconds() - began;
    bench.tell.progress(from + 0.5 * std::min(1.0, elapsed / std::max(plan.seconds, 1e-3)), name,
                        sum, "GB/s");
    if (rates[0].size() >= kFewest && enough_samples(rates, elapsed, plan)) break;
  }
  for (std::vector<double>& of_one : rates)
    bench.tell.reading(name, "GB/s", median_of(of_one));
}

} // namespace

void copy_all_gpus(Bench& bench, const StepOptions& options) {
  if (options.all.size() < 2) Bench::unsupported("this machine has one GPU");
  bench.tell.word("pattern", kPattern);
  struct Back { // the runner goes on with this context
    Bench& bench;
    ~Back() { bench.ask(bench.cuda.cuCtxSetCurrent, bench.context); }
  } back{bench};
  all_one_way(bench, options, Way::to_gpu, 0);
  all_one_way(bench, options, Way::from_gpu, 0.5);
}

} // namespace gpuvet
