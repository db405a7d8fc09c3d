// NCCL of the installation: sums over all GPUs, checked on every one, and once on one GPU alone to
// see whether it works at all.
#include "gpu/work/libraries/nccl.hpp"
#include "gpu/work/libraries/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

namespace gpuvet {
namespace {

constexpr size_t kLargest = size_t{4} << 30;
constexpr size_t kSmallest = 8;
constexpr unsigned kTimes = 20;
constexpr double kSample_s = 0.05; // of reductions, at least

// What all GPUs have free, halved twice: two buffers, and NCCL takes its own.
size_t buffer_bytes(Bench& bench, const std::vector<int>& gpus) {
  size_t least = kLargest;
  for (int gpu : gpus) {
    std::unique_ptr<Bench> other;
    if (gpu != bench.ordinal) other = std::make_unique<Bench>(bench.cuda, gpu, bench.tell);
    size_t free = 0, total = 0;
    bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
    least = std::min(least, free / 4);
    bench.call(bench.cuda.cuCtxSetCurrent, bench.context);
  }
  size_t bytes = kSmallest;
  while (bytes * 2 <= least)
    bytes *= 2;
  if (bytes < kReduceBlock)
    Bench::wrong("a GPU has less than 4 MiB of memory free, too little for an all-reduce");
  return bytes;
}

void stop_if_wrong(Bench& bench, Nccl& nccl, ReduceType type, const StepOptions& options,
                   size_t bytes) {
  const unsigned wrong = nccl.wrong_ranks(type, options.seed, bytes, options.fault);
  if (wrong == 0) return;
  bench.tell.reading("mismatches", "1", wrong);
  Bench::wrong(fmt::format("the sum of {} bytes of {} by NCCL {} is wrong on {} of {} GPUs", bytes,
                           type == ReduceType::int32 ? "int32" : "bf16", nccl.version, wrong,
                           nccl.ranks()));
}

double bus_rate(size_t bytes, double seconds, unsigned ranks) {
  if (seconds <= 0) return 0;
  return static_cast<double>(bytes) / seconds * 2 * (ranks - 1) / ranks / 1e9;
}

// All sizes once, both kinds of numbers, checked; "8 B: 0.0, 64 B: 0.1, ..." in GB/s.
std::string sweep(Bench& bench, Nccl& nccl, const StepOptions& options, size_t most) {
  std::string rates;
  for (size_t bytes = kSmallest; bytes <= most;
       bytes = bytes < most ? std::min(bytes * 8, most) : most + 1) {
    for (ReduceType type : {ReduceType::bf16, ReduceType::int32}) {
      nccl.fill(type, options.seed);
      nccl.reduce(type, bytes, 2);
      const unsigned times = bytes > (64u << 20) ? 3 : kTimes;
      const double seconds = nccl.reduce(type, bytes, times) / times;
      stop_if_wrong(bench, nccl, type, options, bytes);
      if (type == ReduceType::int32)
        rates += fmt::format("{}{} B: {:.2f}", rates.empty() ? "" : ", ", bytes,
                             bus_rate(bytes, seconds, nccl.ranks()));
    }
  }
  return rates;
}

void measure_largest(Bench& bench, Nccl& nccl, const StepOptions& options, size_t bytes) {
  const double began = bench.tell.seconds();
  nccl.fill(ReduceType::int32, options.seed);
  const double one = nccl.reduce(ReduceType::int32, bytes, 1);
  const auto times =
      static_cast<unsigned>(std::clamp(kSample_s / std::max(one, 1e-6), 1.0, double{kTimes}));
  for (unsigned sample = 0; sample == 0 || bench.tell.seconds() < began + options.seconds;
       ++sample) {
    const double seconds = nccl.reduce(ReduceType::int32, bytes, times) / times;
    const double rate = bus_rate(bytes, seconds, nccl.ranks());
    bench.tell.reading("bus", "GB/s", rate);
    bench.tell.progress(
        std::min((bench.tell.seconds() - began) / std::max(options.seconds, 1e-3), 1.0), "bus",
        rate, "GB/s");
  }
  stop_if_wrong(bench, nccl, ReduceType::int32, options, bytes);
}

// NCCL does not tell what it chose; what the user forced, its variables do.
std::string algorithm() {
  std::string text = "chosen by NCCL";
  for (const char* name : {"NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE", "NCCL_P2P_DISABLE"})
    if (const char* set = std::getenv(name)) text += fmt::format(", {}={}", name, set);
  return text;
}

// Of this GPU alone: the data copied by our own kernel.
std::string own_copy(Nccl& nccl, uint64_t seed, size_t bytes) {
  NcclRank& rank = *nccl.all().front();
  launch(rank.bench, rank.bench.kernel("core", "gv_copy"), blocks_for(rank.bench, bytes / 16), 256,
         0, rank.stream, rank.receive.at(), rank.send.at(), uint64_t{bytes / 16});
  const std::vector<uint32_t> block = rank_block(ReduceType::int32, seed, 0, 1);
  return is_block(rank, block, rank.receive.at(), rank.send.at(), bytes) ? "right" : "wrong";
}

} // namespace

void run_all_reduce(Bench& bench, const StepOptions& options) {
  if (options.all.size() < 2) Bench::unsupported("an all-reduce needs two GPUs or more");
  const size_t bytes = buffer_bytes(bench, options.all);
  Nccl nccl(bench, options.libraries.nccl, options.all, bytes);
  bench.tell.word("pattern", "int32 and bf16 with exact sums");
  bench.tell.word("algorithm", algorithm());
  bench.tell.word("sizes", sweep(bench, nccl, options, bytes));
  measure_largest(bench, nccl, options, bytes);
  bench.tell.reading("mismatches", "1", 0);
}

void run_library_nccl(Bench& bench, const StepOptions& options) {
  Nccl nccl(bench, options.libraries.nccl, {bench.ordinal}, kReduceBlock);
  bench.tell.reading("load_s", "s", nccl.load_s);
  bench.tell.word("pattern", "int32 and bf16 integers");
  nccl.fill(ReduceType::int32, options.seed);
  bench.tell.word("own_kernel", own_copy(nccl, options.seed, kReduceBlock));
  for (ReduceType type : {ReduceType::int32, ReduceType::bf16}) {
    nccl.fill(type, options.seed);
    nccl.reduce(type, kReduceBlock, 1);
    stop_if_wrong(bench, nccl, type, options, kReduceBlock);
  }
  bench.tell.reading("mismatches", "1", 0);
}

} // namespace gpuvet
