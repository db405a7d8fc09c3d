// memory-check: does 1 GiB of the GPU's memory keep what was written? Random words and their
// complement, so that every bit is once 0 and once 1. memory-patterns is the long form.
#include "gpu/work/bandwidth/measure.hpp"
#include "gpu/work/bandwidth/sizes.hpp"
#include "gpu/work/bandwidth/steps.hpp"
#include "gpu/work/pieces.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint64_t kAllBits = ~uint64_t{0};

// Fill, check and invert, check and invert back, check: three times all bytes compared.
void one_round(Bench& bench, CudaStream stream, const DeviceMemory& memory, uint64_t seed,
               bool plant, MismatchBox& found) {
  CudaFunction fill = bench.kernel("core", "gv_fill"), check = bench.kernel("core", "gv_check"),
               flip = bench.kernel("core", "gv_check_then_flip");
  const uint64_t words = memory.bytes() / 8;
  const Grid blocks = blocks_for(bench, words);
  launch(bench, fill, blocks, 256, 0, stream, memory.at(), words, uint64_t{0}, seed, uint64_t{0});
  if (plant) // by --self-test
    launch(bench, bench.kernel("core", "gv_flip"), 1, 32, 0, stream,
           memory.at() + seed % (words * 2) * 4, uint32_t{1} << (seed >> 59));
  for (uint64_t now : {uint64_t{0}, kAllBits})
    launch(bench, flip, blocks, 256, 0, stream, memory.at(), words, uint64_t{0}, seed, now,
           found.at());
  launch(bench, check, blocks, 256, 0, stream, memory.at(), words, uint64_t{0}, seed, uint64_t{0},
         found.at());
}

} // namespace

void memory_check(Bench& bench, const StepOptions& options) {
  size_t free = 0, total = 0;
  bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
  const size_t bytes = std::max(std::min(1024 * kMiB, free / 4 * 3) / 65536 * 65536, size_t{65536});
  bench.tell.word("pattern", std::string(kPattern) + ", and its complement");
  bench.tell.word("buffer", bytes == 1024 * kMiB ? mib_text(bytes)
                                                 : fmt::format("{}, since the GPU has {} free",
                                                               mib_text(bytes), mib_text(free)));
  DeviceMemory memory(bench, bytes);
  Stream stream(bench);
  MismatchBox box(bench);
  double checked = 0;
  const double began = bench.tell.seconds();
  Mismatches found{};
  for (uint64_t round = 0; found.count == 0; ++round) {
    one_round(bench, stream, memory, sample_seed(options.seed, round),
              options.fault == Fault::wrong_bit, box);
    found = box.read(stream);
    checked += 3 * static_cast<double>(bytes);
    const double part = (bench.tell.seconds() - began) / std::max(options.seconds, 1e-3);
    bench.tell.progress(std::min(part, 1.0), "checked", checked, "bytes");
    if (part >= 1 || round >= 29) break;
  }
  bench.tell.reading("checked", "bytes", checked);
  bench.tell.reading("mismatches", "1", static_cast<double>(found.count));
  if (found.count == 0) return;
  bench.tell.word("first_place", describe(found));
  bench.tell.word("bits", fmt::format("{:#018x}", found.bits));
  Bench::wrong("the GPU's memory did not keep what was written: " + describe(found));
}

} // namespace gpuvet
