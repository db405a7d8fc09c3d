// What the numbers of one message say together. Nothing here guesses: what cannot be worked out is
// absent.
#pragma once

#include "model/oom.hpp"

#include <optional>

namespace gpuvet {

using OomBytes = std::optional<double>; // bytes; doubles are exact to 9 PB

struct OomBalance {
  OomBytes requested, total, free, allocated, in_private, unallocated, self, limit;
  OomBytes reserved; // by this process's allocator: allocated and unallocated
  OomBytes live;     // allocated less private pools: what tensors hold
  OomBytes others;   // sum over the other processes; absent when one of them is unknown
  size_t other_count = 0;
  OomBytes outside; // of this process, not of its allocator
  OomBytes hidden;  // total less free, this process and the others
  OomBytes rest;    // total less free and this allocator: for messages that tell no processes
  OomBytes missing; // requested less free and unallocated
  // The process of the list that is this one, seen from outside of its container; the message names
  // it by the host's number.
  std::optional<uint64_t> self_pid;
};

OomBalance balance_of(const OomMessage& message);

constexpr double kMiB = 1048576.0;
constexpr double kGiB = 1073741824.0;

} // namespace gpuvet
