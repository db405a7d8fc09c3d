// What tests are made of: memory, streams, events, graphs and gates that give themselves back, a
// launch whose arguments are checked, and time by the GPU's own clock.
//
// Making one throws StepStopped; giving back never fails aloud.
#pragma once

#include "gpu/kernels/kernels.hpp"
#include "gpu/work/bench.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace gpuvet {

class DeviceMemory {
 public:
  DeviceMemory(Bench& bench, size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();

  CudaPointer at(size_t byte = 0) const { return pointer_ + byte; }
  size_t bytes() const { return bytes_; }

 private:
  const CudaApi& cuda_;
  CudaPointer pointer_ = 0;
  size_t bytes_ = 0;
};

// Pinned; reachable from the GPU and from all contexts. `flags`: of cuMemHostAlloc besides.
class HostMemory {
 public:
  HostMemory(Bench& bench, size_t bytes, unsigned flags = 0);
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory();

  template <class T = void> T* as() const { return static_cast<T*>(host_); }
  CudaPointer on_device() const { return device_; }
  size_t bytes() const { return bytes_; }

 private:
  const CudaApi& cuda_;
  void* host_ = nullptr;
  CudaPointer device_ = 0;
  size_t bytes_ = 0;
};

class Stream { // does not wait for the default stream
 public:
  explicit Stream(Bench& bench);
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&&) = delete;
  ~Stream();
  operator CudaStream() const { return stream_; } // NOLINT: it stands for its handle

 private:
  const CudaApi& cuda_;
  CudaStream stream_ = nullptr;
};

class Event {
 public:
  explicit Event(Bench& bench, unsigned flags = 0);
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;
  ~Event();
  operator CudaEvent() const { return event_; } // NOLINT: it stands for its handle

 private:
  const CudaApi& cuda_;
  CudaEvent event_ = nullptr;
};

double seconds_between(Bench& bench, CudaEvent from, CudaEvent to); // both of one context

// Work that a stream would do, recorded and made ready to be launched at once.
class Graph {
 public:
  template <class Work> Graph(Bench& bench, CudaStream stream, Work&& work) : cuda_(bench.cuda) {
    bench.call(cuda_.cuStreamBeginCapture_v2, stream, int{kCudaCaptureThreadLocal});
    try {
      work();
    } catch (...) {
      give_up(stream);
      throw;
    }
    instantiate(bench, stream);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  operator CudaGraphExec() const { return ready_; } // NOLINT: it stands for its handle
  double instantiate_s() const { return instantiate_s_; }

 private:
  void give_up(CudaStream stream);
  void instantiate(Bench& bench, CudaStream stream);

  const CudaApi& cuda_;
  CudaGraph graph_ = nullptr;
  CudaGraphExec ready_ = nullptr;
  double instantiate_s_ = 0;
};

// --- launching -------------------------------------------------------------------------------

struct Grid { // of blocks, or of threads in a block
  unsigned x = 1, y = 1, z = 1;
  Grid(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {} // NOLINT: 256 is one
};

// A kernel's parameter has a size that nobody checks: int and long are refused, so that what is
// passed is what src/gpu/kernels/kernels.hpp says: uint32_t, uint64_t, float, CudaPointer, and
// structures by value.
template <class T> inline constexpr bool kKernelArgument =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
    (std::is_class_v<T> || std::is_floating_point_v<T> ||
     (std::is_unsigned_v<T> && !std::is_same_v<T, bool>));

// Says nothing to the parent: launches are timed, and made thousands of times.
template <class... Arguments> void launch(Bench& bench, CudaFunction function, Grid blocks,
                                          Grid threads, unsigned shared_bytes, CudaStream stream,
                                          Arguments... arguments) {
  static_assert((kKernelArgument<Arguments> && ...), "uint32_t, uint64_t, float, CudaPointer");
  std::array<void*, sizeof...(Arguments) + 1> places = {static_cast<void*>(&arguments)..., nullptr};
  bench.quietly(bench.cuda.cuLaunchKernel, function, blocks.x, blocks.y, blocks.z, threads.x,
                threads.y, threads.z, shared_bytes, stream, places.data(),
                static_cast<void**>(nullptr));
}

// Blocks of `threads` that fill the GPU and are no more than `most` threads need.
unsigned blocks_for(Bench& bench, uint64_t work_items, unsigned threads = 256);

// --- time ------------------------------------------------------------------------------------

// Holds streams back until everything is enqueued, so that the cost of launching does not show.
// At most 64 operations may wait behind it: a stream's queue is finite. Kernels behind it must have
// been loaded before (Bench::kernel does). Never for copies of pageable memory: those wait for the
// CPU. While the parent's deadline is the last resort, the kernel that stands in for
// cuStreamWaitValue32 gives up by itself.
class Gate {
 public:
  explicit Gate(Bench& bench);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { open(); } // who was left behind goes on

  void hold(CudaStream stream); // what is enqueued from now on waits
  void open();
  // After the streams are done. Throws when the gate opened by itself: times are then void.
  void require_held();

 private:
  void reset();

  Bench& bench_;
  HostMemory word_; // the flag; and whether the kernel's patience ended
  CudaFunction kernel_ = nullptr;
  bool by_kernel_ = false, open_ = false;
};

// Seconds that the GPU took for what `work` enqueues.
template <class Work> double timed(Bench& bench, CudaStream stream, Work&& work) {
  Event begin(bench), end(bench);
  bench.quietly(bench.cuda.cuEventRecord, CudaEvent{begin}, stream);
  work();
  bench.quietly(bench.cuda.cuEventRecord, CudaEvent{end}, stream);
  bench.call(bench.cuda.cuStreamSynchronize, stream);
  return seconds_between(bench, begin, end);
}

// The same, enqueued behind the gate: nothing runs before all is there.
template <class Work>
double timed_behind(Gate& gate, Bench& bench, CudaStream stream, Work&& work) {
  Event begin(bench), end(bench);
  gate.hold(stream);
  bench.quietly(bench.cuda.cuEventRecord, CudaEvent{begin}, stream);
  try {
    work();
  } catch (...) {
    gate.open();
    throw;
  }
  bench.quietly(bench.cuda.cuEventRecord, CudaEvent{end}, stream);
  gate.open();
  bench.call(bench.cuda.cuStreamSynchronize, stream);
  gate.require_held();
  return seconds_between(bench, begin, end);
}

// --- wrong data ------------------------------------------------------------------------------

// Where the kernels that check write what they found. Cleared when made, for all streams.
class MismatchBox {
 public:
  explicit MismatchBox(Bench& bench);
  CudaPointer at() const { return memory_.at(); }
  void clear(CudaStream stream);
  Mismatches read(CudaStream stream); // waits for the stream

 private:
  Bench& bench_;
  DeviceMemory memory_;
};

Mismatches read_mismatches(Bench& bench, CudaPointer from, CudaStream stream);

// "3 words of 8 bytes differ in bits 0x10; the first at byte 4096: 0x... instead of 0x..., seen by
// multiprocessor 17". Empty when nothing differs.
std::string describe(const Mismatches& found);

} // namespace gpuvet
