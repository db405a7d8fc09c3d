// What mma.hpp names, on a CPU, as the PTX manual defines it: fragments of ldmatrix and mma, copies
// that arrive when they are waited for, barriers. Each GPU thread is a context of its own; a warp
// runs on until it waits for the others, so a kernel without a barrier that it needs reads what is
// not there yet, or is overwritten before it reads.
#pragma once

#include "gpu/kernels/mix.hpp"
#include "gpu/testing/host_kernels.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <ucontext.h>
#include <vector>

#define __launch_bounds__(...)

struct alignas(8) float2 {
  float x, y;
};

namespace gpuvet {

class HostBlock {
 public:
  // When copies to shared memory happen: both are allowed, so a kernel must be right with both.
  enum class Copies { at_once, when_waited_for };

  HostBlock(unsigned threads, unsigned shared_bytes, Copies when)
      : shared(shared_bytes, 0xFF), when_(when), warps_(threads / 32) {
    for (unsigned i = 0; i < threads; ++i)
      threads_.push_back(std::make_unique<Thread>());
  }

  std::vector<unsigned char> shared; // at first NaN in every word
  std::string problem;               // the first thing that no GPU would accept
  unsigned bank_conflicts = 0;

  void run(const std::function<void()>& kernel) {
    current_ = this;
    kernel_ = &kernel;
    for (auto& thread : threads_)
      start(*thread);
    while (problem.empty() && !finished())
      if (!run_each_warp()) note("the threads wait for each other for ever");
    look_at_copies();
    current_ = nullptr;
  }

  static HostBlock& current() { return *current_; }

  void note(const std::string& what) {
    if (problem.empty()) problem = what;
  }

  // All threads of the block.
  void meet() {
    const unsigned round = meetings_;
    ++steps_;
    if (++met_ == threads_.size()) {
      met_ = 0;
      ++meetings_;
    }
    while (meetings_ == round)
      yield();
  }

  // All lanes of the warp: the last one does the work, with what each lane brought.
  template <class Brought, class Work> void together(Brought brought, Work work) {
    Warp& warp = warps_[threadIdx.x / 32];
    const unsigned round = warp.rounds;
    warp.brought[threadIdx.x % 32] = &brought;
    ++steps_;
    if (++warp.arrived == 32) {
      Brought* all[32];
      for (unsigned lane = 0; lane < 32; ++lane)
        all[lane] = static_cast<Brought*>(warp.brought[lane]);
      work(all);
      warp.arrived = 0;
      ++warp.rounds;
    }
    while (warp.rounds == round)
      yield();
  }

  void copy(unsigned to, const void* from, bool real) {
    Thread& thread = *threads_[threadIdx.x];
    if (to % 16 || to + 16 > shared.size()) return note("a copy beyond shared memory");
    if (reinterpret_cast<uintptr_t>(from) % 16) return note("a copy from between 16 bytes");
    thread.copied_to.push_back(to);
    thread.groups.back().push_back({to, from, real});
    if (when_ == Copies::at_once) perform(thread.groups.back().back());
  }
  void commit() { threads_[threadIdx.x]->groups.emplace_back(); }
  void wait(size_t pending) {
    Thread& thread = *threads_[threadIdx.x];
    for (; thread.arrived + pending + 1 < thread.groups.size(); ++thread.arrived)
      for (const Copy& copy : thread.groups[thread.arrived])
        if (when_ == Copies::when_waited_for) perform(copy);
  }

  // Eight lanes reach shared memory at once: their 16 bytes must lie in different banks.
  void count_conflicts(const unsigned* addresses) {
    std::set<unsigned> banks;
    for (unsigned i = 0; i < 8; ++i)
      banks.insert(addresses[i] / 16 % 8);
    bank_conflicts += static_cast<unsigned>(8 - banks.size());
  }

 private:
  struct Copy {
    unsigned to;
    const void* from;
    bool real;
  };
  struct Thread {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(128 << 10);
    bool done = false;
    std::vector<std::vector<Copy>> groups = {{}}; // the last is not committed
    size_t arrived = 0;                           // groups
    std::vector<unsigned> copied_to;
  };
  struct Warp {
    unsigned arrived = 0, rounds = 0;
    void* brought[32];
  };

  static void body() {
    HostBlock& block = current();
    (*block.kernel_)();
    block.threads_[threadIdx.x]->done = true;
    ++block.steps_;
    for (;;)
      block.yield();
  }
  void start(Thread& thread) {
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.data();
    thread.context.uc_stack.ss_size = thread.stack.size();
    thread.context.uc_link = &scheduler_;
    makecontext(&thread.context, body, 0);
  }
  void yield() { swapcontext(&threads_[threadIdx.x]->context, &scheduler_); }

  // Each warp until it gets no further. False when none did.
  bool run_each_warp() {
    const size_t before = steps_;
    for (unsigned warp = 0; warp < warps_.size(); ++warp)
      for (size_t at = steps_ + 1; at != steps_ && problem.empty();) {
        at = steps_;
        for (unsigned lane = 0; lane < 32; ++lane) {
          threadIdx.x = warp * 32 + lane;
          if (!threads_[threadIdx.x]->done)
            swapcontext(&scheduler_, &threads_[threadIdx.x]->context);
        }
      }
    return steps_ != before;
  }
  bool finished() const {
    for (const auto& thread : threads_)
      if (!thread->done) return false;
    return true;
  }
  void perform(const Copy& copy) {
    if (copy.real)
      memcpy(&shared[copy.to], copy.from, 16);
    else
      memset(&shared[copy.to], 0, 16);
  }
  void look_at_copies() {
    for (unsigned first = 0; first < threads_.size(); first += 8)
      for (size_t nth = 0; nth < threads_[first]->copied_to.size(); ++nth) {
        unsigned addresses[8];
        for (unsigned i = 0; i < 8; ++i)
          addresses[i] = threads_[first + i]->copied_to.at(nth);
        count_conflicts(addresses);
      }
  }

  static inline HostBlock* current_ = nullptr;
  const std::function<void()>* kernel_ = nullptr;
  Copies when_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<Thread>> threads_;
  ucontext_t scheduler_;
  size_t steps_ = 0, met_ = 0;
  unsigned meetings_ = 0;
};

inline unsigned shared_start() {
  return 0;
}
inline void barrier() {
  HostBlock::current().meet();
}
inline void copy16(unsigned to, const void* from, bool real) {
  HostBlock::current().copy(to, from, real);
}
inline void commit_copies() {
  HostBlock::current().commit();
}
template <int kPending> void wait_for_copies() {
  HostBlock::current().wait(kPending);
}

inline void load_matrices(unsigned (&to)[4], unsigned row) {
  struct Brought {
    unsigned* to;
    unsigned row;
  };
  HostBlock& block = HostBlock::current();
  block.together(Brought{to, row}, [&](Brought** lanes) {
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      unsigned rows[8];
      for (unsigned i = 0; i < 8; ++i) {
        rows[i] = lanes[matrix * 8 + i]->row;
        if (rows[i] % 16 || rows[i] + 16 > block.shared.size())
          return block.note("a matrix beyond shared memory");
      }
      block.count_conflicts(rows);
      for (unsigned lane = 0; lane < 32; ++lane)
        memcpy(&lanes[lane]->to[matrix], &block.shared[rows[lane / 4] + lane % 4 * 4], 4);
    }
  });
}

// The fragments of mma.m16n8k16 for 16-bit operands: element i of a lane's A, B or C.
inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  struct Brought {
    float* c;
    const unsigned* a;
    unsigned b[2];
  };
  auto element = [](const unsigned* registers, unsigned i) {
    const unsigned word = registers[i / 2];
    return float_of(i % 2 ? word & 0xFFFF0000u : word << 16);
  };
  HostBlock::current().together(Brought{c, a, {b0, b1}}, [&](Brought** lanes) {
    float all_a[16][16], all_b[16][8]; // row, column
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned group = lane / 4, in_group = lane % 4;
      for (unsigned i = 0; i < 8; ++i)
        all_a[group + (i / 2 % 2) * 8][in_group * 2 + i % 2 + i / 4 * 8] =
            element(lanes[lane]->a, i);
      for (unsigned i = 0; i < 4; ++i)
        all_b[in_group * 2 + i % 2 + i / 2 * 8][group] = element(lanes[lane]->b, i);
    }
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < 4; ++i)
        for (unsigned k = 0; k < 16; ++k)
          lanes[lane]->c[i] += all_a[lane / 4 + i / 2 * 8][k] * all_b[k][lane % 4 * 2 + i % 2];
  });
}

inline Word exchange(Word value, unsigned mask) {
  struct Brought {
    Word value;
    Word* result;
  };
  Word result = 0;
  HostBlock::current().together(Brought{value, &result}, [&](Brought** lanes) {
    for (unsigned lane = 0; lane < 32; ++lane)
      *lanes[lane]->result = lanes[lane ^ mask]->value;
  });
  return result;
}

} // namespace gpuvet
