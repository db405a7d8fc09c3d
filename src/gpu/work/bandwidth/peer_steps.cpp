// peer-copy, peer-latency.
#include "base/sampling.hpp"
#include "gpu/work/bandwidth/measure.hpp"
#include "gpu/work/bandwidth/overlap.hpp"
#include "gpu/work/bandwidth/pair.hpp"
#include "gpu/work/bandwidth/sizes.hpp"
#include "gpu/work/bandwidth/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace gpuvet {
namespace {

constexpr uint64_t kAllBits = ~uint64_t{0};

// From `from`'s memory to `to`'s, always enqueued by the first GPU of the pair.
class PeerWay {
 public:
  PeerWay(Pair& pair, bool away, size_t bytes)
      : pair_(pair), from_(away ? pair.here : pair.there, bytes),
        to_(away ? pair.there : pair.here, bytes), away_(away) {
    make_current(pair.here);
    stream_.emplace(pair.here);
  }

  void prepare(uint64_t seed) {
    seed_ = seed;
    from_.fill(from_.memory.at(), seed);
    to_.fill(to_.memory.at(), seed, kAllBits);
    make_current(pair_.here);
  }
  void enqueue() {
    pair_.here.quietly(pair_.here.cuda.cuMemcpyPeerAsync, to_.memory.at(), to_.bench.context,
                       from_.memory.at(), from_.bench.context, to_.memory.bytes(), stream());
  }
  void check() { // by the owner
    std::string found = describe(to_.check(to_.memory.at(), seed_));
    make_current(pair_.here);
    if (found.empty()) return;
    pair_.here.tell.word("first_place", found);
    Bench::wrong(fmt::format("what was copied {} the other GPU arrived wrong: {}",
                             away_ ? "to" : "from", found));
  }

  CudaStream stream() const { return *stream_; }
  double bytes() const { return static_cast<double>(to_.memory.bytes()); }
  double rate = 0; // bytes per second, as last seen

 private:
  Pair& pair_;
  End from_, to_;
  std::optional<Stream> stream_;
  const bool away_;
  uint64_t seed_ = 0;
};

// Bytes per second. Without direct access the driver stages the copies through host memory and may
// need the CPU for it: no gate then, and the host's clock.
double one_rate(Gate& gate, Bench& bench, PeerWay& way, bool direct) {
  const unsigned copies = operations_for(way.bytes(), way.rate);
  auto work = [&] {
    for (unsigned at = 0; at < copies; ++at)
      way.enqueue();
  };
  double seconds = 0;
  if (direct) {
    seconds = timed_behind(gate, bench, way.stream(), work);
  } else {
    const double began = bench.tell.seconds();
    seconds = timed(bench, way.stream(), work);
    seconds = std::max(seconds, bench.tell.seconds() - began);
  }
  way.rate = way.bytes() * copies / seconds;
  return way.rate;
}

// The sum of both directions, each while the other is busy.
double both_rates(Gate& gate, Bench& bench, PeerWay& write, PeerWay& read) {
  Lane out = {write.stream(), [&] { write.enqueue(); }, write.bytes(), write.rate};
  Lane in = {read.stream(), [&] { read.enqueue(); }, read.bytes(), read.rate};
  return rate_while_busy(gate, bench, out, in) + rate_while_busy(gate, bench, in, out);
}

double both_staged(Bench& bench, PeerWay& write, PeerWay& read) {
  const unsigned copies = operations_for(write.bytes(), write.rate);
  const double began = bench.tell.seconds();
  for (unsigned at = 0; at < copies; ++at) {
    write.enqueue();
    read.enqueue();
  }
  bench.call(bench.cuda.cuStreamSynchronize, write.stream());
  bench.call(bench.cuda.cuStreamSynchronize, read.stream());
  return 2 * write.bytes() * copies / (bench.tell.seconds() - began);
}

uint64_t least_free(Pair& pair) {
  uint64_t least = UINT64_MAX;
  for (Bench* one : {&pair.there, &pair.here}) {
    size_t free = 0, total = 0;
    make_current(*one);
    one->call(one->cuda.cuMemGetInfo_v2, &free, &total);
    least = std::min<uint64_t>(least, free);
  }
  return least;
}

// What a small copy moves in a second, roughly, after one that is not timed.
double look(Gate& gate, Bench& bench, Pair& pair, uint64_t free) {
  PeerWay way(pair, true,
              std::max<size_t>(std::min<uint64_t>(8 * kMiB, free / 8) / 65536, 1) * 65536);
  way.enqueue();
  bench.call(bench.cuda.cuStreamSynchronize, way.stream());
  return one_rate(gate, bench, way, pair.direct);
}

} // namespace

void peer_copy(Bench& bench, const StepOptions& options) {
  Pair pair(bench, options.peer);
  bench.tell.word("access", pair.direct ? "direct" : "staged");
  if (!pair.direct) bench.tell.word("why_staged", pair.why_not);
  bench.tell.word("pattern", kPattern);
  Gate gate(bench);
  const uint64_t free = least_free(pair);
  make_current(bench);
  const double rate = look(gate, bench, pair, free);
  BufferSize size = link_buffer(options.seconds, rate, {free, std::nullopt}, 2, 0);
  bench.tell.word("buffer", size.word);
  PeerWay write(pair, true, size.bytes), read(pair, false, size.bytes);
  write.rate = read.rate = rate;
  for (PeerWay* way : {&write, &read}) { // nothing may happen for the first time behind a gate
    way->enqueue();
    bench.call(bench.cuda.cuStreamSynchronize, way->stream());
  }
  measure(bench, options, {options.seconds, 0, 1}, {{"write"}, {"read"}, {"both"}},
          [&](uint64_t seed) {
            std::vector<double> figures;
            for (PeerWay* way : {&write, &read}) {
              way->prepare(sample_seed(seed, way == &write ? 0 : 1));
              figures.push_back(one_rate(gate, bench, *way, pair.direct) / 1e9);
              way->check();
            }
            write.prepare(sample_seed(seed, 2));
            read.prepare(sample_seed(seed, 3));
            figures.push_back((pair.direct ? both_rates(gate, bench, write, read)
                                           : both_staged(bench, write, read)) /
                              1e9);
            write.check();
            read.check();
            return figures;
          });
}

// Follows addresses through 2 MiB of the other GPU's memory, in an order that nothing can guess, a
// new cache line each time.
void peer_latency(Bench& bench, const StepOptions& options) {
  constexpr size_t kStride = 128, kNodes = 2 * kMiB / kStride;
  Pair pair(bench, options.peer);
  if (!pair.direct) Bench::unsupported(pair.why_not);
  bench.tell.word("pattern", "addresses in random order, 128 bytes apart");
  End there(pair.there, kNodes * kStride), here(pair.here, 65536);

  std::vector<size_t> order(kNodes);
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(options.seed)); // NOLINT: repeatable
  std::vector<uint64_t> nodes(kNodes * kStride / 8);
  auto address = [&](size_t nth) { return there.memory.at(order[nth % kNodes] * kStride); };
  for (size_t nth = 0; nth < kNodes; ++nth)
    nodes[order[nth] * kStride / 8] = address(nth + 1);
  make_current(pair.there);
  bench.call(bench.cuda.cuMemcpyHtoDAsync_v2, there.memory.at(),
             static_cast<const void*>(nodes.data()), nodes.size() * 8, CudaStream{there.stream});
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{there.stream});
  make_current(pair.here);

  CudaFunction chase = bench.kernel("core", "gv_chase");
  uint64_t hops = 2000;
  auto ns_of_a_hop = [&] {
    uint64_t out[3] = {};
    launch(bench, chase, 1, 1, 0, here.stream, address(0), hops, here.memory.at());
    bench.call(bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(out), here.memory.at(),
               sizeof(out), CudaStream{here.stream});
    bench.call(bench.cuda.cuStreamSynchronize, CudaStream{here.stream});
    if (out[0] != address(hops))
      Bench::wrong(fmt::format("{} addresses read from the other GPU's memory led to {:#x} instead "
                               "of {:#x}",
                               hops, out[0], uint64_t{address(hops)}));
    return static_cast<double>(out[2]) / static_cast<double>(hops);
  };
  const double guess = std::max(ns_of_a_hop(), 1.0);
  hops = static_cast<uint64_t>(std::clamp(kSample_s * 1e9 / guess, 2000.0, 1e6));
  measure(bench, options, {options.seconds, 0, 1}, {{"hop_ns", "ns"}},
          [&](uint64_t) { return std::vector<double>{ns_of_a_hop()}; });
}

} // namespace gpuvet
