#include "judge/oom/balance.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

// What a context and the libraries of one process take beside its allocator, at most.
constexpr double kMostBeside = 3 * kGiB;

OomBytes known_bytes(const OomAmount& amount) {
  if (!amount) return std::nullopt;
  return static_cast<double>(*amount);
}

OomBytes minus(OomBytes from, OomBytes what) {
  if (!from || !what) return std::nullopt;
  return *from - *what;
}

// A message that tells no process as its own, but others: NVML gives the numbers of the host, so in
// a container the program does not find itself among them. When everybody in the list leaves less
// of the GPU than this allocator holds, this process must be one of them: the one that holds what
// the allocator holds and the least more.
void find_self(const OomMessage& message, OomBalance& balance) {
  if (message.amounts.count("self") || !balance.reserved) return;
  const OomProcess* best = nullptr;
  double listed = 0, rounding = 16 * kMiB;
  for (const OomProcess& process : message.others) {
    if (!process.held) return;
    const auto held = static_cast<double>(*process.held);
    listed += held;
    rounding += static_cast<double>(process.held.rounding);
    const bool can = held >= *balance.reserved - rounding;
    if (can && (best == nullptr || *process.held < *best->held)) best = &process;
  }
  if (best == nullptr) return;
  const double beside = static_cast<double>(*best->held) - *balance.reserved;
  const bool must = balance.total && balance.free &&
                    *balance.total - *balance.free - listed < *balance.reserved - rounding;
  if (!must && ((balance.total && balance.free) || beside > kMostBeside)) return;
  balance.self_pid = best->pid;
  balance.self = static_cast<double>(*best->held);
}

void add_others(const OomMessage& message, OomBalance& balance) {
  double sum = 0;
  for (const OomProcess& process : message.others) {
    if (balance.self_pid == process.pid) continue;
    ++balance.other_count;
    if (!process.held) {
      balance.others.reset();
      return;
    }
    sum += static_cast<double>(*process.held);
  }
  balance.others = sum;
}

} // namespace

OomBalance balance_of(const OomMessage& message) {
  OomBalance balance;
  balance.requested = known_bytes(message.amount("requested"));
  balance.total = known_bytes(message.amount("total"));
  balance.free = known_bytes(message.amount("free"));
  balance.allocated = known_bytes(message.amount("allocated"));
  balance.in_private = known_bytes(message.amount("private"));
  balance.unallocated = known_bytes(message.amount("unallocated"));
  balance.self = known_bytes(message.amount("self"));
  balance.limit = known_bytes(message.amount("limit"));
  balance.reserved = known_bytes(message.amount("reserved"));

  // Paddle tells what everybody holds, and what is free.
  OomBytes used = known_bytes(message.amount("used"));
  if (!balance.total && used && balance.free) balance.total = *used + *balance.free;
  if (balance.total && *balance.total <= 0) balance.total.reset(); // Paddle without an answer

  if (!balance.unallocated) {
    balance.unallocated = minus(balance.reserved, balance.allocated);
    if (balance.unallocated) balance.unallocated = std::max(0.0, *balance.unallocated);
  }
  if (!balance.reserved && balance.allocated && balance.unallocated)
    balance.reserved = *balance.allocated + *balance.unallocated;
  if (balance.allocated)
    balance.live = std::max(0.0, *balance.allocated - balance.in_private.value_or(0));
  find_self(message, balance);
  add_others(message, balance);
  balance.outside = minus(balance.self, balance.reserved);
  if (balance.total && balance.free && balance.self && balance.others)
    balance.hidden = *balance.total - *balance.free - *balance.self - *balance.others;
  const OomBytes pool = balance.reserved ? balance.reserved : balance.allocated;
  if (balance.total && balance.free && pool) balance.rest = *balance.total - *balance.free - *pool;
  if (balance.requested && balance.free)
    balance.missing = *balance.requested - *balance.free - balance.unallocated.value_or(0);
  return balance;
}

} // namespace gpuvet
