// peer-check: do data that cross the link between two GPUs arrive? Checked by the GPU that owns the
// memory: where an IOMMU or a switch redirects the writes, the writer still reads back what it
// wrote while the owner never sees it (https://github.com/NVIDIA/nccl/issues/2335).
#include "base/sampling.hpp"
#include "gpu/work/bandwidth/measure.hpp"
#include "gpu/work/bandwidth/pair.hpp"
#include "gpu/work/bandwidth/sizes.hpp"
#include "gpu/work/bandwidth/steps.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint64_t kAllBits = ~uint64_t{0};

class Check {
 public:
  Check(Bench& bench, Pair& pair, size_t bytes)
      : bench_(bench), pair_(pair), there_(pair.there, bytes), here_(pair.here, bytes) {}

  void round(uint64_t seed) {
    if (pair_.direct) {
      there_.fill(there_.memory.at(), seed, kAllBits);
      here_.fill(there_.memory.at(), seed);
      judge(there_.check(there_.memory.at(), seed),
            "what a kernel wrote into the other GPU's memory");
      there_.fill(there_.memory.at(), sample_seed(seed, 1));
      judge(here_.check(there_.memory.at(), sample_seed(seed, 1)),
            "what a kernel read from the other GPU's memory");
    }
    copy(here_, there_, sample_seed(seed, 2), "what was copied to the other GPU");
    copy(there_, here_, sample_seed(seed, 3), "what was copied from the other GPU");
  }

  // Both GPUs add to one counter at the same time; none of the sums may get lost.
  void atomics() {
    constexpr unsigned kBlocks = 64, kThreads = 256;
    constexpr uint64_t kTimes = 64; // 2^20 in all, of each GPU
    make_current(there_.bench);
    const CudaPointer counter = there_.memory.at();
    bench_.call(bench_.cuda.cuMemsetD32Async, counter, 0u, size_t{1}, CudaStream{there_.stream});
    bench_.call(bench_.cuda.cuStreamSynchronize, CudaStream{there_.stream});
    for (End* end : {&there_, &here_}) {
      make_current(end->bench);
      launch(end->bench, end->bench.kernel("core", "gv_atomic_add"), kBlocks, kThreads, 0,
             end->stream, counter, kTimes);
    }
    bench_.call(bench_.cuda.cuStreamSynchronize, CudaStream{here_.stream});
    make_current(there_.bench);
    uint32_t sum = 0;
    bench_.call(bench_.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(&sum), counter, sizeof(sum),
                CudaStream{there_.stream});
    bench_.call(bench_.cuda.cuStreamSynchronize, CudaStream{there_.stream});
    constexpr uint32_t kWanted = 2 * kBlocks * kThreads * kTimes;
    if (sum == kWanted) return;
    tell(1);
    Bench::wrong(
        fmt::format("atomic additions over the link got lost: {} instead of {}", sum, kWanted));
  }

  void tell(double mismatches) {
    bench_.tell.reading("checked", "bytes", checked_);
    bench_.tell.reading("mismatches", "1", mismatches);
  }
  double checked() const { return checked_; }

 private:
  void copy(End& from, End& to, uint64_t seed, const char* what) {
    from.fill(from.memory.at(), seed);
    to.fill(to.memory.at(), seed, kAllBits);
    make_current(from.bench);
    bench_.call(bench_.cuda.cuMemcpyPeerAsync, to.memory.at(), to.bench.context, from.memory.at(),
                from.bench.context, to.memory.bytes(), CudaStream{from.stream});
    bench_.call(bench_.cuda.cuStreamSynchronize, CudaStream{from.stream});
    judge(to.check(to.memory.at(), seed), what);
  }

  void judge(const Mismatches& found, const char* what) {
    checked_ += static_cast<double>(here_.memory.bytes());
    if (found.count == 0) return;
    tell(static_cast<double>(found.count));
    bench_.tell.word("first_place", describe(found));
    Bench::wrong(fmt::format("{} is not what the owner has: {}", what, describe(found)));
  }

  Bench& bench_;
  Pair& pair_;
  End there_, here_;
  double checked_ = 0;
};

} // namespace

void peer_check(Bench& bench, const StepOptions& options) {
  Pair pair(bench, options.peer);
  size_t free = SIZE_MAX;
  for (Bench* one : {&pair.there, &pair.here}) {
    size_t now = 0, total = 0;
    make_current(*one);
    bench.call(bench.cuda.cuMemGetInfo_v2, &now, &total);
    free = std::min(free, now);
  }
  const size_t bytes =
      std::clamp<size_t>(free / 4 / 65536 * 65536, 65536,
                         (options.seconds < kQuick_s || !pair.direct ? 64 : 256) * kMiB);
  bench.tell.word("access", pair.direct ? "direct" : "staged: " + pair.why_not);
  bench.tell.word("pattern", kPattern);
  bench.tell.word("buffer", mib_text(bytes));
  Check check(bench, pair, bytes);
  const double began = bench.tell.seconds();
  for (uint64_t round = 0; round < 10; ++round) {
    check.round(sample_seed(options.seed, round));
    const double elapsed = bench.tell.seconds() - began;
    bench.tell.progress(std::min(1.0, elapsed / std::max(options.seconds, 1e-3)), "checked",
                        check.checked(), "bytes");
    if (elapsed >= options.seconds) break;
  }
  if (!pair.direct)
    bench.tell.word("atomics", "not run: no direct access");
  else if (!pair.native_atomics())
    bench.tell.word("atomics", "not run: this link has no native atomics");
  else
    check.atomics();
  check.tell(0);
}

} // namespace gpuvet
