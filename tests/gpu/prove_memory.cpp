// How fast the device's memory is read and written, by launch shape.
#include "prove.hpp"

#include <fmt/core.h>

#include <array>
#include <numeric>

namespace gpuvet::prove {
namespace {

struct Buffers {
  DeviceMemory to, a, b, sum;
  uint64_t n16; // places of 16 bytes in each
};

// Prepares, and launches once with `blocks` of `threads`.
struct Traffic {
  const char* kernel;
  unsigned passes, places; // buffers that go through memory; kReadPlaces and so on
  void (*launch_it)(const Prover&, const Buffers&, unsigned blocks, unsigned threads);
  bool (*right)(const Prover&, const Buffers&);
};

CudaFunction core(const Prover& prover, const char* kernel) {
  return prover.bench.kernel("core", kernel);
}

void launch_read(const Prover& p, const Buffers& m, unsigned blocks, unsigned threads) {
  launch(p.bench, core(p, "gv_read"), blocks, threads, 0, p.stream, m.a.at(), m.n16, m.sum.at());
}
void launch_write(const Prover& p, const Buffers& m, unsigned blocks, unsigned threads) {
  launch(p.bench, core(p, "gv_write"), blocks, threads, 0, p.stream, m.to.at(), m.n16, 0xA5A5A5A5u);
}
void launch_copy(const Prover& p, const Buffers& m, unsigned blocks, unsigned threads) {
  launch(p.bench, core(p, "gv_copy"), blocks, threads, 0, p.stream, m.to.at(), m.a.at(), m.n16);
}
void launch_triad(const Prover& p, const Buffers& m, unsigned blocks, unsigned threads) {
  launch(p.bench, core(p, "gv_triad"), blocks, threads, 0, p.stream, m.to.at(), m.a.at(), m.b.at(),
         m.n16);
}

bool holds(const Prover& p, const Buffers& m, uint32_t word) {
  MismatchBox box(p.bench);
  run_core(p, "gv_check_pattern", m.n16 * 2, m.to.at(), m.n16 * 2, uint64_t{word} << 32 | word,
           box.at());
  return box.read(p.stream).count == 0;
}

constexpr uint32_t kOne = 0x3F800000, kTwo = 0x40000000, kSeven = 0x40E00000; // as floats

bool read_right(const Prover& p, const Buffers& m) { // of one launch
  const auto sums = read_back<uint64_t>(p, m.sum.at(), kReadSums);
  return std::accumulate(sums.begin(), sums.end(), uint64_t{0}) == m.n16 * 4 * uint64_t{kOne};
}
bool write_right(const Prover& p, const Buffers& m) {
  return holds(p, m, 0xA5A5A5A5u);
}
bool copy_right(const Prover& p, const Buffers& m) {
  return holds(p, m, kOne);
}
bool triad_right(const Prover& p, const Buffers& m) {
  return holds(p, m, kSeven); // 1 + 3 * 2
}

constexpr Traffic kTraffic[] = {{"gv_read", 1, kReadPlaces, launch_read, read_right},
                                {"gv_write", 1, kWritePlaces, launch_write, write_right},
                                {"gv_copy", 2, kCopyPlaces, launch_copy, copy_right},
                                {"gv_triad", 3, kTriadPlaces, launch_triad, triad_right}};

void prove_traffic(const Prover& prover, const Buffers& memory, const Traffic& traffic) {
  const double bytes = static_cast<double>(memory.n16) * 16 * traffic.passes;
  for (unsigned threads : {256u, 512u, 1024u})
    for (unsigned each : {0u, 1u, 2u, 4u, 8u}) { // 0: a block for each piece
      const unsigned blocks =
          each ? prover.multiprocessors * each
               : static_cast<unsigned>(memory.n16 / (uint64_t{traffic.places} * threads));
      fill_words(prover, memory.to.at(), 0, memory.n16 * 4);
      fill_words(prover, memory.sum.at(), 0, kReadSums * 2);
      traffic.launch_it(prover, memory, blocks, threads);
      const bool right = traffic.right(prover, memory);
      Times times = time_runs(prover, [&] { traffic.launch_it(prover, memory, blocks, threads); });
      prover.report.checked(
          traffic.kernel, right,
          fmt::format("threads={} blocks_per_sm={} gb_s={:.1f} worst={:.1f} best={:.1f}", threads,
                      each, bytes / times.median / 1e9, bytes / times.most / 1e9,
                      bytes / times.least / 1e9));
    }
}

} // namespace

void prove_memory(const Prover& prover, size_t bytes) {
  guarded(prover, "memory", [&] {
    Buffers memory = {{prover.bench, bytes},
                      {prover.bench, bytes},
                      {prover.bench, bytes},
                      {prover.bench, kReadSums * sizeof(uint64_t)},
                      bytes / 16};
    fill_words(prover, memory.a.at(), kOne, bytes / 4);
    fill_words(prover, memory.b.at(), kTwo, bytes / 4);
    for (const Traffic& traffic : kTraffic)
      prove_traffic(prover, memory, traffic);
  });
}

} // namespace gpuvet::prove
