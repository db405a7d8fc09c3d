// The faults that are planted in the GPU.
#include "gpu/kernels/mix.hpp"
#include "gpu/work/clock_kernel.hpp"
#include "gpu/work/self_test/self_test.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

constexpr size_t kMemoryBytes = size_t{2} << 20, kLinkBytes = size_t{4} << 20;
constexpr uint64_t kWords = kMemoryBytes / 8;
constexpr const char* kNumber = "1";

unsigned trials_of(const StepOptions& options) {
  return options.seconds > 0 ? 100 : 3;
}

void tell_result(Bench& bench, unsigned caught, unsigned trials) {
  bench.tell.reading("caught", kNumber, caught);
  bench.tell.reading("trials", kNumber, trials);
}

// --- a wrong bit -----------------------------------------------------------------------------

struct Memory {
  Bench& bench;
  Stream stream{bench};
  DeviceMemory buffer{bench, kMemoryBytes};
  MismatchBox box{bench};
  CudaFunction fill = bench.kernel("core", "gv_fill"), check = bench.kernel("core", "gv_check"),
               flip = bench.kernel("core", "gv_flip");
  unsigned blocks = blocks_for(bench, kWords);

  Mismatches found(uint64_t seed, uint64_t inverted) {
    box.clear(stream);
    launch(bench, check, blocks, 256, 0, stream, buffer.at(), kWords, uint64_t{0}, seed, inverted,
           box.at());
    return box.read(stream);
  }
};

// Empty when the bit, and nothing else, was found where it was planted.
std::string why_missed(const Mismatches& found, uint64_t word, uint64_t bit) {
  if (found.count == 0) return "it was not found";
  if (found.count != 1) return fmt::format("{} words were found", found.count);
  const Mismatches::Place& place = found.places[0];
  if (place.index != word) return fmt::format("it was found in word {}", place.index);
  if ((place.got ^ place.wanted) != bit || found.bits != bit)
    return fmt::format("bits {:#x} were found", found.bits);
  return {};
}

std::string plant_bit(Memory& memory, uint64_t seed, uint64_t trial) {
  const uint64_t random = mix64(seed + trial), word = random % kWords, bit = mix64(random) % 64;
  const uint64_t inverted = trial % 2 ? ~uint64_t{0} : 0;
  launch(memory.bench, memory.fill, memory.blocks, 256, 0, memory.stream, memory.buffer.at(),
         kWords, uint64_t{0}, random, inverted);
  if (Mismatches clean = memory.found(random, inverted); clean.count != 0)
    Bench::wrong("before anything was planted: " + describe(clean));
  launch(memory.bench, memory.flip, 1, 32, 0, memory.stream,
         memory.buffer.at(word * 8 + bit / 32 * 4), uint32_t{1} << (bit % 32));
  std::string why = why_missed(memory.found(random, inverted), word, uint64_t{1} << bit);
  return why.empty() ? "" : fmt::format("bit {} of word {}: {}", bit, word, why);
}

// --- a slow link -----------------------------------------------------------------------------

struct Link {
  Bench& bench;
  Stream stream{bench};
  Gate gate{bench};
  HostMemory host{bench, kLinkBytes};
  DeviceMemory device{bench, kLinkBytes};
  ClockKernel delay{bench};

  void copy() {
    bench.quietly(bench.cuda.cuMemcpyHtoDAsync_v2, device.at(), host.as<const void>(), kLinkBytes,
                  CudaStream{stream});
  }

  // Bytes per second; `rounds` of delay among the copies, as if the link were slower.
  double rate(unsigned copies, uint64_t rounds) {
    double seconds = timed_behind(gate, bench, stream, [&] {
      for (unsigned at = 0; at < copies; ++at)
        copy();
      if (rounds) delay.enqueue(stream, rounds);
    });
    return static_cast<double>(kLinkBytes) * copies / seconds;
  }
};

// Empty when the rate came out lower by just what the delay took.
std::string slow_down(Link& link, unsigned copies, uint64_t rounds) {
  double full = std::max(link.rate(copies, 0), link.rate(copies, 0));
  double slowed = link.rate(copies, rounds);
  double bytes = static_cast<double>(kLinkBytes) * copies;
  double expected = bytes / (bytes / full + link.delay.read(link.stream).ns / 1e9);
  constexpr double kClose = 0.15; // other traffic on the link
  if (std::abs(slowed / expected - 1) <= kClose && slowed < full * 0.9) return {};
  return fmt::format("with a delay that makes {:.1f} GB/s into {:.1f}, {:.1f} GB/s were measured",
                     full / 1e9, expected / 1e9, slowed / 1e9);
}

} // namespace

void self_test_bit(Bench& bench, const StepOptions& options) {
  bench.tell.word("pattern", "64 mixed bits, and their inverse");
  Memory memory{bench};
  const unsigned trials = trials_of(options);
  unsigned caught = 0;
  std::string missed;
  for (unsigned trial = 0; trial < trials; ++trial) {
    std::string why = plant_bit(memory, options.seed, trial);
    caught += why.empty();
    if (missed.empty()) missed = why;
  }
  tell_result(bench, caught, trials);
  if (caught < trials)
    Bench::wrong(fmt::format("the check of memory missed {} of {} planted bits; {}",
                             trials - caught, trials, missed));
}

void self_test_link(Bench& bench, const StepOptions& options) {
  bench.tell.word("pattern", "any: only time is looked at");
  constexpr double kCopies_s = 2e-3, kDelay_s = 5e-3;
  Link link{bench};
  link.rate(1, 0);
  double one_s = static_cast<double>(kLinkBytes) / link.rate(1, 0);
  auto copies = static_cast<unsigned>(std::clamp(kCopies_s / one_s, 1.0, 16.0));
  // Long against the copies, whatever the link: else it would not show.
  uint64_t rounds = link.delay.rounds_for(link.stream, std::max(kDelay_s, one_s * copies));
  const unsigned trials = options.seconds > 0 ? 20 : 1;
  unsigned caught = 0;
  std::string missed;
  for (unsigned trial = 0; trial < trials; ++trial) {
    std::string why = slow_down(link, copies, rounds);
    if (!why.empty()) why = slow_down(link, copies, rounds); // another user of the link, once
    caught += why.empty();
    if (missed.empty()) missed = why;
  }
  tell_result(bench, caught, trials);
  if (caught < trials)
    Bench::wrong(fmt::format("the measurement of the link missed {} of {} delays; {}",
                             trials - caught, trials, missed));
}

// Waits for a word that nobody sets: as a test does whose GPU has stopped.
void self_test_hang(Bench& bench, const StepOptions&) {
  Stream stream(bench);
  Gate gate(bench);
  gate.hold(stream);
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
}

} // namespace gpuvet
