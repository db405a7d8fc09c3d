// All free memory, written and read again: values that differ at each address (two places that are
// one show), their complement, walking bits, every twentieth word against its neighbours, and a
// window in which nothing is done, for cells that lose what they hold.
//
// On memory with ECC a single wrong bit is corrected before it is read: the counters of the run
// show those.
#include "gpu/kernels/mix.hpp"
#include "gpu/work/stress/chunks.hpp"
#include "gpu/work/stress/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

namespace gpuvet {
namespace {

constexpr unsigned kModulo = 20;
constexpr uint64_t kOnes = ~uint64_t{0};
constexpr double kLongestFade_s = 60;

struct MemoryTest {
  Bench& bench;
  const StepOptions& options;
  Stream stream;
  MismatchBox found;
  MemoryChunks memory; // last: it takes all that is left
  double checked = 0;  // bytes, each time they were read
  double began = 0;
  unsigned blocks = 1; // that fill the GPU
  bool planted = false;

  double left_s() const { return options.seconds - (bench.tell.seconds() - began); }
};

// Calls work(chunk, words, first) for each piece; `first` is the number of its first word.
template <class Work> double over_all(MemoryTest& test, Work&& work) {
  const double seconds = timed(test.bench, test.stream, [&] {
    uint64_t first = 0;
    for (const DeviceMemory& chunk : test.memory.chunks) {
      const uint64_t words = chunk.bytes() / sizeof(uint64_t);
      work(chunk.at(), words, first);
      first += words;
    }
  });
  test.bench.tell.alive();
  return seconds;
}

template <class... Arguments>
void on_all_threads(MemoryTest& test, const char* name, Arguments... arguments) {
  launch(test.bench, test.bench.kernel("core", name), test.blocks, 256, 0, test.stream,
         arguments...);
}

// One bit of the middle of the first piece, after the first values were written.
void plant(MemoryTest& test) {
  if (test.planted || test.options.fault != Fault::wrong_bit) return;
  test.planted = true;
  const DeviceMemory& chunk = test.memory.chunks.front();
  launch(test.bench, test.bench.kernel("core", "gv_flip"), 1, 1, 0, test.stream,
         chunk.at(chunk.bytes() / 2), uint32_t{1} << (mix64(test.options.seed) % 32));
}

void stop_if_wrong(MemoryTest& test, const std::string& pass) {
  test.checked += static_cast<double>(test.memory.bytes);
  const Mismatches found = test.found.read(test.stream);
  if (found.count == 0) return;
  StepTeller& tell = test.bench.tell;
  const Mismatches::Place& place = found.places[0];
  tell.word("first_place", fmt::format("byte {} of a piece, seen by multiprocessor {}",
                                       place.index * sizeof(uint64_t), place.multiprocessor));
  tell.word("bits", fmt::format("{:#018x}", found.bits));
  tell.reading("checked", "bytes", test.checked);
  tell.reading("mismatches", "1", static_cast<double>(found.count));
  Bench::wrong(
      fmt::format("memory does not hold what was written ({}): {}", pass, describe(found)));
}

// ---- passes

void write_values(MemoryTest& test, uint64_t seed) {
  over_all(test, [&](CudaPointer at, uint64_t words, uint64_t first) {
    on_all_threads(test, "gv_fill", at, words, first, seed, uint64_t{0});
  });
  plant(test);
}

void check_values(MemoryTest& test, uint64_t seed, uint64_t flip) {
  over_all(test, [&](CudaPointer at, uint64_t words, uint64_t first) {
    on_all_threads(test, "gv_check", at, words, first, seed, flip, test.found.at());
  });
}

void values_and_complement(MemoryTest& test, uint64_t seed) {
  write_values(test, seed);
  const double seconds = over_all(test, [&](CudaPointer at, uint64_t words, uint64_t first) {
    on_all_threads(test, "gv_check_then_flip", at, words, first, seed, uint64_t{0},
                   test.found.at());
  });
  stop_if_wrong(test, "a value for each address");
  check_values(test, seed, kOnes);
  stop_if_wrong(test, "the complement of a value for each address");
  if (seconds <= 0) return;
  const double rate = 2 * static_cast<double>(test.memory.bytes) / seconds / 1e9;
  test.bench.tell.reading("rate", "GB/s", rate); // read and written
  test.bench.tell.progress(
      std::clamp(1 - test.left_s() / std::max(test.options.seconds, 1e-3), 0.0, 1.0), "rate", rate,
      "GB/s");
}

void pattern(MemoryTest& test, uint64_t value) {
  over_all(test, [&](CudaPointer at, uint64_t words, uint64_t) {
    on_all_threads(test, "gv_pattern", at, words, value);
  });
  over_all(test, [&](CudaPointer at, uint64_t words, uint64_t) {
    on_all_threads(test, "gv_check_pattern", at, words, value, test.found.at());
  });
  stop_if_wrong(test, fmt::format("all words {:#018x}", value));
}

void modulo(MemoryTest& test, uint64_t offset, uint64_t value) {
  over_all(test, [&](CudaPointer at, uint64_t words, uint64_t) {
    on_all_threads(test, "gv_modulo", at, words, offset, value, ~value);
  });
  over_all(test, [&](CudaPointer at, uint64_t words, uint64_t) {
    on_all_threads(test, "gv_check_modulo", at, words, offset, value, ~value, test.found.at());
  });
  stop_if_wrong(test, fmt::format("every twentieth word from {} against the others", offset));
}

// Values stand for half of the time that is left, and must be there afterwards.
void fade(MemoryTest& test, uint64_t seed) {
  const double seconds = std::clamp(test.left_s() / 2, 0.0, kLongestFade_s);
  write_values(test, seed);
  const double until = test.bench.tell.seconds() + seconds;
  while (test.bench.tell.seconds() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(
        static_cast<int>(std::clamp((until - test.bench.tell.seconds()) * 1e3, 1.0, 500.0))));
    test.bench.tell.alive();
  }
  check_values(test, seed, 0);
  stop_if_wrong(test, fmt::format("values that stood for {:.1f} s", seconds));
}

// Walking bits and the twenty offsets go on where the round before ended, as far as time allows.
void run_rounds(MemoryTest& test) {
  const uint64_t seed = test.options.seed;
  unsigned bit = 0, offset = 0;
  for (uint64_t round = 0; round == 0 || test.left_s() > 0; ++round) {
    values_and_complement(test, mix64(seed + round));
    for (unsigned at = 0; at < 8 && (at == 0 || test.left_s() > 0); ++at, bit = (bit + 1) % 64) {
      pattern(test, uint64_t{1} << bit);
      pattern(test, ~(uint64_t{1} << bit));
    }
    for (unsigned at = 0; at < 4 && (at == 0 || test.left_s() > 0); ++at)
      modulo(test, offset++ % kModulo, mix64(~seed + round));
    if (round == 0) fade(test, mix64(seed + 0x66616465)); // "fade"
  }
}

void require_enough(MemoryTest& test) {
  StepTeller& tell = test.bench.tell;
  tell.reading("chunks_refused", "1", test.memory.refused);
  if (is_enough(test.memory)) return;
  tell.reading("checked", "bytes", 0);
  Bench::wrong(fmt::format("the driver said that {:.2f} GB could be had, and gave {:.2f} GB: the "
                           "memory cannot be tested",
                           static_cast<double>(test.memory.wanted) / 1e9,
                           static_cast<double>(test.memory.bytes) / 1e9));
}

} // namespace

void run_memory_patterns(Bench& bench, const StepOptions& options) {
  MemoryTest test{bench,
                  options,
                  Stream(bench),
                  MismatchBox(bench),
                  all_free_memory(bench),
                  0,
                  bench.tell.seconds(),
                  1,
                  false};
  test.blocks = blocks_for(bench, test.memory.bytes / sizeof(uint64_t));
  bench.tell.word("pattern", "a value for each address and its complement, walking bits, every "
                             "twentieth word, values left to stand");
  require_enough(test);
  run_rounds(test);
  bench.tell.reading("checked", "bytes", static_cast<double>(test.memory.bytes));
  bench.tell.reading("mismatches", "1", 0);
}

} // namespace gpuvet
