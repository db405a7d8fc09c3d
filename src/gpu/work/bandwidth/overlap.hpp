// Two streams of copies at once: what one reaches while the other is busy all the time.
#pragma once

#include "gpu/work/pieces.hpp"

#include <cstddef>
#include <functional>

namespace gpuvet {

struct Lane {
  CudaStream stream = nullptr;
  std::function<void()> enqueue; // one copy
  double bytes = 0;              // of it
  double rate = 0;               // bytes per second, as last seen; at first a guess
};

// Bytes per second of `measured`, by its own events, while `other` copies for at least half as long
// again. Both streams are of the bench's context and start at one gate. `other` gets more to do,
// and all is repeated, until it really was the last to end.
double rate_while_busy(Gate& gate, Bench& bench, Lane& measured, Lane& other);

} // namespace gpuvet
