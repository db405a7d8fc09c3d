#include "gpu/work/bandwidth/host_words.hpp"

#include "gpu/kernels/mix.hpp"
#include "os/memory/numa.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace gpuvet {
namespace {

constexpr unsigned kMostThreads = 16;    // beyond that memory is the limit
constexpr size_t kFewestWords = 1 << 17; // for one thread: starting it costs as much as this

// Calls part(first, end, number of the part) on several threads; parts are in order.
template <class Part> void in_parts(size_t words, Part part) {
  const auto count = static_cast<unsigned>(
      std::clamp<size_t>(words / kFewestWords, 1, std::min(cpus_allowed(), kMostThreads)));
  std::vector<std::thread> threads;
  auto run = [&](unsigned at) { part(words * at / count, words * (at + 1) / count, at); };
  for (unsigned at = 1; at < count; ++at) {
    try {
      threads.emplace_back(run, at);
    } catch (const std::system_error&) {
      run(at); // a limit on threads (pids.max) costs time, nothing else
    }
  }
  run(0);
  for (std::thread& thread : threads)
    thread.join();
}

} // namespace

void fill_words(uint64_t* to, size_t words, uint64_t seed, uint64_t flip) {
  in_parts(words, [=](size_t first, size_t end, unsigned) {
    for (size_t i = first; i < end; ++i)
      to[i] = word_value(i, seed) ^ flip;
  });
}

Mismatches check_words(const uint64_t* from, size_t words, uint64_t seed, uint64_t flip) {
  std::vector<Mismatches> found(kMostThreads);
  in_parts(words, [=, &found](size_t first, size_t end, unsigned at) {
    Mismatches& mine = found[at];
    for (size_t i = first; i < end; ++i) {
      const uint64_t wanted = word_value(i, seed) ^ flip, got = from[i];
      if (got == wanted) continue;
      if (mine.count < Mismatches::kKept) mine.places[mine.count] = {i, got, wanted, 0, 0};
      ++mine.count;
      mine.bits |= got ^ wanted;
    }
  });
  Mismatches all{};
  for (const Mismatches& part : found) {
    for (size_t at = 0; at < std::min<size_t>(part.count, Mismatches::kKept); ++at)
      if (all.count + at < Mismatches::kKept) all.places[all.count + at] = part.places[at];
    all.count += part.count;
    all.bits |= part.bits;
  }
  return all;
}

uint64_t sum_of_halves(size_t words, uint64_t seed) {
  std::vector<uint64_t> sums(kMostThreads);
  in_parts(words, [=, &sums](size_t first, size_t end, unsigned at) {
    uint64_t sum = 0;
    for (size_t i = first; i < end; ++i) {
      const uint64_t value = word_value(i, seed);
      sum += (value & 0xFFFFFFFF) + (value >> 32);
    }
    sums[at] = sum;
  });
  uint64_t all = 0;
  for (uint64_t sum : sums)
    all += sum;
  return all;
}

std::string describe_host(const Mismatches& found) {
  if (found.count == 0) return {};
  const Mismatches::Place& first = found.places[0];
  return fmt::format("{} word{} of 8 bytes differ{} in bits {:#x}; the first at byte {}: {:#018x} "
                     "instead of {:#018x}",
                     found.count, found.count == 1 ? "" : "s", found.count == 1 ? "s" : "",
                     found.bits, first.index * 8, first.got, first.wanted);
}

} // namespace gpuvet
