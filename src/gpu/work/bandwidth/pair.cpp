#include "gpu/work/bandwidth/pair.hpp"

#include <fmt/core.h>

#include <map>
#include <memory>

namespace gpuvet {
namespace {

constexpr int kAlreadyEnabled = 704; // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
constexpr int kNativeAtomics = 3;    // CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED

// For members that are made on the GPU of a bench.
Bench& current(Bench& bench) {
  make_current(bench);
  return bench;
}

} // namespace

void make_current(Bench& bench) {
  bench.quietly(bench.cuda.cuCtxSetCurrent, bench.context);
}

Bench& other_bench(Bench& here, int ordinal) {
  if (ordinal == here.ordinal) return here;
  // Never taken down: the process ends with its last test, and the driver takes back all it has.
  static auto* const made = new std::map<int, std::unique_ptr<Bench>>();
  std::unique_ptr<Bench>& bench = (*made)[ordinal];
  if (!bench) bench = std::make_unique<Bench>(here.cuda, ordinal, here.tell);
  make_current(here);
  return *bench;
}

Pair::Pair(Bench& first, int peer) : here(first), there(other_bench(first, peer)) {
  direct = enable(here, there) && enable(there, here);
  make_current(here);
}

Pair::~Pair() {
  here.ask(here.cuda.cuCtxSetCurrent, here.context);
}

bool Pair::enable(Bench& from, Bench& to) {
  int can = 0;
  here.call(here.cuda.cuDeviceCanAccessPeer, &can, from.device, to.device);
  if (can == 0) {
    why_not = fmt::format("the driver offers no direct access from GPU {} to GPU {}", from.ordinal,
                          to.ordinal);
    return false;
  }
  make_current(from);
  const int code = here.ask(here.cuda.cuCtxEnablePeerAccess, to.context, 0u);
  if (code != 0 && code != kAlreadyEnabled)
    here.stop_at(here.cuda.cuCtxEnablePeerAccess.name, code);
  return true;
}

bool Pair::native_atomics() const {
  int has = 0;
  const int code = here.ask(here.cuda.cuDeviceGetP2PAttribute, &has, int{kNativeAtomics},
                            here.device, there.device);
  return code == 0 && has != 0;
}

End::End(Bench& on, size_t bytes)
    : bench(current(on)), stream(on), memory(on, bytes), mismatches_(on),
      fill_(on.kernel("core", "gv_fill")), check_(on.kernel("core", "gv_check")) {}

void End::fill(CudaPointer at, uint64_t seed, uint64_t flip) {
  make_current(bench);
  const uint64_t words = memory.bytes() / 8;
  launch(bench, fill_, blocks_for(bench, words), 256, 0, stream, at, words, uint64_t{0}, seed,
         flip);
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
}

Mismatches End::check(CudaPointer at, uint64_t seed) {
  make_current(bench);
  mismatches_.clear(stream);
  const uint64_t words = memory.bytes() / 8;
  launch(bench, check_, blocks_for(bench, words), 256, 0, stream, at, words, uint64_t{0}, seed,
         uint64_t{0}, mismatches_.at());
  return mismatches_.read(stream);
}

} // namespace gpuvet
