#include "gpu/work/pieces.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace gpuvet {

DeviceMemory::DeviceMemory(Bench& bench, size_t bytes) : cuda_(bench.cuda), bytes_(bytes) {
  bench.call(cuda_.cuMemAlloc_v2, &pointer_, bytes);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : cuda_(other.cuda_), pointer_(std::exchange(other.pointer_, 0)), bytes_(other.bytes_) {}

DeviceMemory::~DeviceMemory() {
  if (pointer_) cuda_.cuMemFree_v2.function(pointer_);
}

HostMemory::HostMemory(Bench& bench, size_t bytes, unsigned flags)
    : cuda_(bench.cuda), bytes_(bytes) {
  bench.call(cuda_.cuMemHostAlloc, &host_, bytes,
             flags | unsigned{kCudaHostPortable} | unsigned{kCudaHostMapped});
  if (int code = bench.ask(cuda_.cuMemHostGetDevicePointer_v2, &device_, host_, 0u)) {
    cuda_.cuMemFreeHost.function(host_);
    bench.stop_at(cuda_.cuMemHostGetDevicePointer_v2.name, code);
  }
}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : cuda_(other.cuda_), host_(std::exchange(other.host_, nullptr)), device_(other.device_),
      bytes_(other.bytes_) {}

HostMemory::~HostMemory() {
  if (host_) cuda_.cuMemFreeHost.function(host_);
}

Stream::Stream(Bench& bench) : cuda_(bench.cuda) {
  bench.call(cuda_.cuStreamCreate, &stream_, unsigned{kCudaStreamNonBlocking});
}

Stream::Stream(Stream&& other) noexcept
    : cuda_(other.cuda_), stream_(std::exchange(other.stream_, nullptr)) {}

Stream::~Stream() {
  if (stream_) cuda_.cuStreamDestroy_v2.function(stream_);
}

Event::Event(Bench& bench, unsigned flags) : cuda_(bench.cuda) {
  bench.quietly(cuda_.cuEventCreate, &event_, flags);
}

Event::Event(Event&& other) noexcept
    : cuda_(other.cuda_), event_(std::exchange(other.event_, nullptr)) {}

Event::~Event() {
  if (event_) cuda_.cuEventDestroy_v2.function(event_);
}

double seconds_between(Bench& bench, CudaEvent from, CudaEvent to) {
  float milliseconds = 0;
  bench.quietly(bench.cuda.cuEventElapsedTime, &milliseconds, from, to);
  return double{milliseconds} / 1e3;
}

void Graph::give_up(CudaStream stream) {
  CudaGraph half = nullptr;
  cuda_.cuStreamEndCapture.function(stream, &half);
  if (half) cuda_.cuGraphDestroy.function(half);
}

// The constructor calls this: what was made must go when it throws.
void Graph::instantiate(Bench& bench, CudaStream stream) {
  bench.call(cuda_.cuStreamEndCapture, stream, &graph_);
  double began = bench.tell.seconds();
  int code =
      cuda_.cuGraphInstantiateWithFlags.function
          ? bench.ask(cuda_.cuGraphInstantiateWithFlags, &ready_, graph_, 0ull)
          : bench.ask(cuda_.cuGraphInstantiate_v2, &ready_, graph_,
                      static_cast<CudaGraphNode*>(nullptr), static_cast<char*>(nullptr), size_t{0});
  instantiate_s_ = bench.tell.seconds() - began;
  if (code == 0) return;
  cuda_.cuGraphDestroy.function(graph_);
  bench.stop_at(cuda_.cuGraphInstantiateWithFlags.name, code);
}

Graph::~Graph() {
  if (ready_) cuda_.cuGraphExecDestroy.function(ready_);
  if (graph_) cuda_.cuGraphDestroy.function(graph_);
}

unsigned blocks_for(Bench& bench, uint64_t work_items, unsigned threads) {
  auto multiprocessors = static_cast<uint64_t>(bench.attribute(kCudaMultiprocessors));
  auto resident = static_cast<uint64_t>(bench.attribute(kCudaThreadsPerMultiprocessor));
  uint64_t fill = multiprocessors * std::max<uint64_t>(resident / threads, 1);
  uint64_t needed = (work_items + threads - 1) / threads;
  return static_cast<unsigned>(std::max<uint64_t>(std::min(fill, needed), 1));
}

// --- the gate --------------------------------------------------------------------------------

namespace {

constexpr uint64_t kPatience_ns = 20'000'000'000; // of the kernel that stands in
constexpr size_t kTimedOutAt = 64;                // bytes: a cache line of its own

} // namespace

Gate::Gate(Bench& bench) : bench_(bench), word_(bench, 2 * kTimedOutAt) {
  bool has = bench.cuda.cuStreamWaitValue32_v2.function != nullptr;
  int code = 0, supported = 0;
  if (has)
    code = bench.ask(bench.cuda.cuDeviceGetAttribute, &supported, int{kCudaStreamMemoryOperations},
                     bench.device);
  by_kernel_ = !has || code != 0 || supported == 0;
  if (by_kernel_) kernel_ = bench.kernel("core", "gv_gate");
  reset();
}

void Gate::reset() {
  std::atomic_ref(word_.as<uint32_t>()[0]).store(0);
  std::atomic_ref(word_.as<uint32_t>()[kTimedOutAt / sizeof(uint32_t)]).store(0);
  open_ = false;
}

void Gate::hold(CudaStream stream) {
  if (open_) reset();
  if (!by_kernel_) {
    int code = bench_.ask(bench_.cuda.cuStreamWaitValue32_v2, stream, word_.on_device(), 1u,
                          unsigned{kCudaWaitEqual});
    if (code == 0) return;
    if (code != kCudaNotSupported) bench_.stop_at(bench_.cuda.cuStreamWaitValue32_v2.name, code);
    by_kernel_ = true; // Windows' driver model under WSL says so only here
    kernel_ = bench_.kernel("core", "gv_gate");
  }
  launch(bench_, kernel_, 1, 1, 0, stream, word_.on_device(), kPatience_ns,
         word_.on_device() + kTimedOutAt);
}

void Gate::open() {
  std::atomic_ref(word_.as<uint32_t>()[0]).store(1);
  open_ = true;
}

void Gate::require_held() {
  if (std::atomic_ref(word_.as<uint32_t>()[kTimedOutAt / sizeof(uint32_t)]).load() != 0)
    Bench::wrong("the work was not enqueued within 20 s, so that its time says nothing");
}

// --- wrong data ------------------------------------------------------------------------------

MismatchBox::MismatchBox(Bench& bench) : bench_(bench), memory_(bench, sizeof(Mismatches)) {
  clear(nullptr);
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{nullptr});
}

void MismatchBox::clear(CudaStream stream) {
  bench_.call(bench_.cuda.cuMemsetD32Async, memory_.at(), 0u, sizeof(Mismatches) / 4, stream);
}

Mismatches MismatchBox::read(CudaStream stream) {
  return read_mismatches(bench_, memory_.at(), stream);
}

Mismatches read_mismatches(Bench& bench, CudaPointer from, CudaStream stream) {
  Mismatches found{};
  bench.call(bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(&found), from, sizeof(found),
             stream);
  bench.call(bench.cuda.cuStreamSynchronize, stream);
  return found;
}

std::string describe(const Mismatches& found) {
  if (found.count == 0) return {};
  // Threads find places in any order: the lowest of those that were kept.
  const Mismatches::Place* first = &found.places[0];
  for (size_t at = 1; at < Mismatches::kKept && at < found.count; ++at)
    if (found.places[at].index < first->index) first = &found.places[at];
  return fmt::format("{} word{} of 8 bytes differ{} in bits {:#x}; the first known at byte {}: "
                     "{:#018x} instead of {:#018x}, seen by multiprocessor {}",
                     found.count, found.count == 1 ? "" : "s", found.count == 1 ? "s" : "",
                     found.bits, first->index * 8, first->got, first->wanted,
                     first->multiprocessor);
}

} // namespace gpuvet
