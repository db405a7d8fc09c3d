// Does a GPU compute at all: a context, the driver's compiler, the clock.
#pragma once

#include "gpu/work/bench.hpp"

#include <cstdint>
#include <string>

namespace gpuvet {

void device_context(Bench& bench, const StepOptions& options);
void device_jit(Bench& bench, const StepOptions& options);
void device_clock(Bench& bench, const StepOptions& options);

// The PTX that device-jit has compiled: `*word ^= mask`, and a number that makes the text new.
std::string jit_text(uint64_t number);

} // namespace gpuvet
