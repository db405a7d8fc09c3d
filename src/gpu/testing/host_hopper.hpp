// What hopper.cuh names, on a CPU, as the PTX manual defines it: barriers that count arrivals and
// bytes, copies that land some time after they were asked for, multiplications that read shared
// memory as late as they may: when they are waited for. Each GPU thread is a context of its own;
// who goes on next is drawn by lot, so a barrier that does not hold shows as a wrong product or as
// threads that wait for ever.
#pragma once

#include "gpu/kernels/gemm_sm90a_shape.hpp"
#include "gpu/testing/host_kernels.hpp"

#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <ucontext.h>
#include <vector>

#define GPUVET_UNROLL
#define GPUVET_NO_UNROLL
#define __shared__
#define __align__(bytes)
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__

struct alignas(8) float2 {
  float x, y;
};

namespace gpuvet::sm90a {

// A phase ends when all arrivals and all bytes are there. Bytes may come before they are announced.
struct HostBarrier {
  unsigned arrivals = 0, missing = 0, phase = 0;
  long bytes = 0;
  void init(unsigned count) { arrivals = missing = count; }
  void arrive(long announced = 0) {
    bytes += announced;
    --missing;
    settle();
  }
  void complete(long count) {
    bytes -= count;
    settle();
  }
  void settle() {
    if (missing != 0 || bytes != 0) return;
    ++phase;
    missing = arrivals;
  }
  bool over(unsigned parity) const { return (phase & 1) != parity; } // try_wait.parity
};

// On a host: words[0] address of the matrix, [1] its rows, [2] elements of a row.
struct TensorMap {
  unsigned long long words[16];
};

class HostCluster {
 public:
  HostCluster(unsigned blocks, unsigned threads, unsigned shared_bytes, Word seed)
      : random_(seed), blocks_(blocks), threads_in_block_(threads) {
    for (Block& block : blocks_)
      block.shared.assign(kStart + shared_bytes, 0x7F);
    for (unsigned i = 0; i < blocks * threads; ++i)
      threads_.push_back(std::make_unique<Thread>());
    meetings_.resize(1 + blocks + blocks * threads / 32);
  }

  std::string problem; // the first thing that no GPU would accept

  // The blocks of the cluster whose first is `first`.
  void run(unsigned first, const std::function<void()>& kernel) {
    current_ = this;
    kernel_ = &kernel;
    first_ = first;
    for (auto& thread : threads_)
      start(*thread);
    while (problem.empty() && !finished())
      if (!some_go_on() && !all_go_on()) note("the threads wait for each other for ever");
    if (problem.empty() && !copies_.empty()) note("a block ended before its copies had landed");
    current_ = nullptr;
  }

  static HostCluster& current() { return *current_; }
  void note(const std::string& what) {
    if (problem.empty()) problem = what;
  }
  unsigned rank() const { return running_ / threads_in_block_; }

  // ---- who waits

  void wait_until(const std::function<bool()>& there) {
    while (!there())
      swapcontext(&threads_[running_]->context, &scheduler_);
    ++steps_;
  }
  // All threads of the cluster, of a block, or of a warp: the last one calls work().
  void meet(unsigned place, unsigned count, const std::function<void()>& work) {
    Meeting& meeting = meetings_[place];
    const unsigned round = meeting.rounds;
    if (++meeting.arrived == count) {
      work();
      meeting.arrived = 0;
      ++meeting.rounds;
    }
    wait_until([&] { return meeting.rounds != round; });
  }
  void meet_cluster() {
    meet(0, static_cast<unsigned>(threads_.size()), [] {});
  }
  void meet_block() {
    meet(1 + rank(), threads_in_block_, [] {});
  }
  void meet_warp(const std::function<void()>& work) {
    meet(1 + static_cast<unsigned>(blocks_.size()) + running_ / 32, 32, work);
  }
  Word exchange(Word value, unsigned apart) {
    threads_[running_]->given = value;
    meet_warp([this] {
      const unsigned first = running_ / 32 * 32;
      for (unsigned lane = 0; lane < 32; ++lane)
        threads_[first + lane]->kept = threads_[first + lane]->given;
    });
    return threads_[running_ ^ apart]->kept;
  }

  HostBarrier& barrier(unsigned address, unsigned rank) {
    if (address % kBarrierBytes || address + kBarrierBytes > blocks_[rank].shared.size())
      note("a barrier that is not in shared memory");
    if (ended(rank)) note("a signal to a block that has ended");
    return blocks_[rank].barriers[address];
  }

  // ---- copies

  void copy(unsigned blocks, unsigned to, const TensorMap* map, unsigned barrier, unsigned inner,
            unsigned row) {
    for (unsigned rank = 0; rank < blocks_.size(); ++rank)
      if (blocks >> rank & 1) copies_.push_back({rank, to, map, barrier, inner, row});
    ++steps_;
  }

  // ---- multiplications

  void multiply(float* d, unsigned long long a, unsigned long long b, unsigned add) {
    Thread& own = *threads_[running_];
    if (own.target && own.target != d) note("accumulators that are in use were given up");
    if (!own.target) own.sums.assign(d, d + kAccumulators);
    own.target = d; // nobody may look before the wait
    std::fill(d, d + kAccumulators, std::numeric_limits<float>::quiet_NaN());
    own.asked.push_back({a, b, add});
  }
  void commit() {
    Thread& own = *threads_[running_];
    own.groups.push_back(std::move(own.asked));
    own.asked.clear();
  }
  void wait(size_t pending) {
    dawdle();
    Thread& own = *threads_[running_];
    while (own.groups.size() > pending) {
      for (const Multiplication& one : own.groups.front())
        perform(own, one);
      own.groups.erase(own.groups.begin());
    }
    if (!own.asked.empty()) note("a wait for multiplications that were not committed");
    meet_warp([] {}); // `.sync.aligned`: the lanes of a warp go on together
    if (pending > 0 || !own.target) return;
    std::copy(own.sums.begin(), own.sums.end(), own.target);
    own.target = nullptr;
  }

  static constexpr unsigned kStart = 48; // of dynamic shared memory: as little aligned as may be

 private:
  struct Multiplication {
    unsigned long long a, b;
    unsigned add;
  };
  struct Thread {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(64 << 10);
    bool done = false;
    Word given = 0, kept = 0;
    float* target = nullptr;
    std::vector<float> sums;
    std::vector<Multiplication> asked;
    std::vector<std::vector<Multiplication>> groups;
  };
  struct Block {
    std::vector<unsigned char> shared; // at first a large number in every element
    std::map<unsigned, HostBarrier> barriers;
  };
  struct Meeting {
    unsigned arrived = 0, rounds = 0;
  };
  struct Copy {
    unsigned rank, to;
    const TensorMap* map;
    unsigned barrier, inner, row;
  };

  unsigned lot(unsigned below) { return static_cast<unsigned>(mix64(random_++) % below); }

  // Lets others go on for a while, now and then for long: nobody may count on who is fast.
  void dawdle() {
    for (unsigned turns = lot(64) == 0 ? 60 : lot(4); turns > 0; --turns) {
      ++steps_;
      swapcontext(&threads_[running_]->context, &scheduler_);
    }
  }

  static void body() {
    HostCluster& cluster = current();
    Thread& own = *cluster.threads_[cluster.running_];
    (*cluster.kernel_)();
    own.done = true;
    ++cluster.steps_;
    for (;;)
      swapcontext(&own.context, &cluster.scheduler_);
  }
  void start(Thread& thread) {
    thread.done = false;
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.data();
    thread.context.uc_stack.ss_size = thread.stack.size();
    thread.context.uc_link = &scheduler_;
    makecontext(&thread.context, body, 0);
  }
  bool ended(unsigned rank) const {
    for (unsigned i = 0; i < threads_in_block_; ++i)
      if (!threads_[rank * threads_in_block_ + i]->done) return false;
    return true;
  }
  bool finished() const {
    for (unsigned rank = 0; rank < blocks_.size(); ++rank)
      if (!ended(rank)) return false;
    return true;
  }
  void go_on(unsigned warp) {
    for (running_ = warp * 32; running_ < warp * 32 + 32; ++running_) {
      if (threads_[running_]->done) continue;
      blockIdx.x = first_ + rank();
      threadIdx.x = running_ % threads_in_block_;
      swapcontext(&scheduler_, &threads_[running_]->context);
    }
  }
  bool some_go_on() {
    const size_t before = steps_;
    for (unsigned warp = 0; warp < threads_.size() / 32; ++warp) {
      if (lot(3) == 0) go_on(warp);
      if (!copies_.empty() && lot(8) == 0) land(lot(static_cast<unsigned>(copies_.size())));
    }
    return steps_ != before;
  }
  bool all_go_on() {
    const size_t before = steps_;
    while (!copies_.empty())
      land(0);
    for (unsigned warp = 0; warp < threads_.size() / 32; ++warp)
      go_on(warp);
    return steps_ != before;
  }

  // Bits 4-6 of the address are exchanged by bits 7-9: PTX ISA, "128-byte swizzle".
  static unsigned swizzled(unsigned address) { return address ^ (address >> 7 & 7) << 4; }

  void land(unsigned which) {
    const Copy copy = copies_[which];
    copies_.erase(copies_.begin() + which);
    ++steps_;
    const auto* matrix = reinterpret_cast<const unsigned short*>(copy.map->words[0]);
    const Word rows = copy.map->words[1], length = copy.map->words[2];
    Block& block = blocks_[copy.rank];
    if (copy.row + kBoxRows > rows || copy.inner + kInnerStep > length || copy.to % 128 ||
        copy.to + kBoxRows * kRowBytes > block.shared.size())
      return note("a copy from beyond the matrix or to beyond shared memory");
    for (unsigned r = 0; r < kBoxRows; ++r)
      for (unsigned k = 0; k < kInnerStep; ++k)
        memcpy(&block.shared[swizzled(copy.to + r * kRowBytes + k * 2)],
               &matrix[(copy.row + r) * length + copy.inner + k], 2);
    block.barriers[copy.barrier].complete(kBoxRows * kRowBytes);
  }

  // Row `row` of 16 elements, as a descriptor gives it.
  void read_row(unsigned long long descriptor, unsigned row, float (&to)[kInstructionInner]) {
    const std::vector<unsigned char>& shared = blocks_[rank()].shared;
    const unsigned start = static_cast<unsigned>(descriptor & 0x3FFF) << 4;
    const unsigned stride = static_cast<unsigned>(descriptor >> 32 & 0x3FFF) << 4;
    if (descriptor >> 62 != 1) note("a descriptor of another swizzle");
    for (unsigned k = 0; k < kInstructionInner; ++k) {
      const unsigned at = swizzled(start + row / 8 * stride + row % 8 * kRowBytes + k * 2);
      if (at + 2 > shared.size()) return note("an operand beyond shared memory");
      unsigned short element;
      memcpy(&element, &shared[at], 2);
      to[k] = float_of(static_cast<unsigned>(element) << 16);
    }
  }

  // The part of this thread. Its fragment, as the manual's figure of m64nNk16 has it.
  void perform(Thread& own, const Multiplication& one) {
    const unsigned thread = threadIdx.x % kWarpgroup;
    const unsigned top = thread / 32 * 16 + thread % 32 / 4;
    float a[2][kInstructionInner], b[kInstructionInner];
    for (unsigned below = 0; below < 2; ++below)
      read_row(one.a, top + 8 * below, a[below]);
    for (unsigned eight = 0; eight < kTileColumns / 8; ++eight)
      for (unsigned right = 0; right < 2; ++right) {
        read_row(one.b, eight * 8 + thread % 4 * 2 + right, b);
        for (unsigned below = 0; below < 2; ++below) {
          float& sum = own.sums[eight * 4 + below * 2 + right];
          if (!one.add) sum = 0;
          for (unsigned k = 0; k < kInstructionInner; ++k)
            sum += a[below][k] * b[k];
        }
      }
  }

  static inline HostCluster* current_ = nullptr;
  const std::function<void()>* kernel_ = nullptr;
  Word random_;
  std::vector<Block> blocks_;
  unsigned threads_in_block_, running_ = 0, first_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Meeting> meetings_; // of the cluster, of each block, of each warp
  std::vector<Copy> copies_;
  ucontext_t scheduler_;
  size_t steps_ = 0;
};

inline unsigned char shared[16]; // stands for dynamic shared memory; only its address is asked for

inline unsigned shared_address(const void*) {
  return HostCluster::kStart;
}
inline unsigned cluster_rank() {
  return HostCluster::current().rank();
}
inline void barrier_init(unsigned barrier, unsigned arrivals) {
  HostCluster::current().barrier(barrier, cluster_rank()).init(arrivals);
}
inline void barriers_are_ready() {}
inline void operands_are_written() {}
inline void barrier_wait(unsigned barrier, unsigned parity) {
  HostCluster& cluster = HostCluster::current();
  HostBarrier& it = cluster.barrier(barrier, cluster_rank());
  cluster.wait_until([&] { return it.over(parity); });
}
inline void barrier_expect(unsigned barrier, unsigned bytes) {
  HostCluster::current().barrier(barrier, cluster_rank()).arrive(bytes);
}
inline void barrier_arrive_at(unsigned barrier, unsigned rank) {
  HostCluster::current().barrier(barrier, rank).arrive();
}
inline void barrier_arrive(unsigned barrier) {
  barrier_arrive_at(barrier, cluster_rank());
}
inline void cluster_barrier() {
  HostCluster::current().meet_cluster();
}
template <unsigned kCount> void fewer_registers() {}
template <unsigned kCount> void more_registers() {}
inline void fetch_map(const TensorMap*) {}
inline void load_box_to(unsigned blocks, unsigned to, const TensorMap* map, unsigned barrier,
                        unsigned inner, unsigned row) {
  HostCluster::current().copy(blocks, to, map, barrier, inner, row);
}
inline void load_box(unsigned to, const TensorMap* map, unsigned barrier, unsigned inner,
                     unsigned row) {
  load_box_to(1u << cluster_rank(), to, map, barrier, inner, row);
}
inline void multiply_fence() {}
inline void multiply_commit() {
  HostCluster::current().commit();
}
inline void multiply_wait_all_but_one() {
  HostCluster::current().wait(1);
}
inline void multiply_wait_all(float (&)[kAccumulators]) {
  HostCluster::current().wait(0);
}
inline void multiply(float (&d)[kAccumulators], unsigned long long a, unsigned long long b,
                     unsigned add) {
  HostCluster::current().multiply(d, a, b, add);
}

} // namespace gpuvet::sm90a

inline void __syncthreads() {
  gpuvet::sm90a::HostCluster::current().meet_block();
}
inline gpuvet::Word __shfl_xor_sync(unsigned, gpuvet::Word value, unsigned apart) {
  return gpuvet::sm90a::HostCluster::current().exchange(value, apart);
}
inline unsigned __float_as_uint(float value) {
  return gpuvet::bits_of(value);
}
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline void __stcs(float2* to, float2 value) {
  *to = value;
}
