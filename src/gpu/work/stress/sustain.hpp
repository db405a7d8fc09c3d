// Products for as long as asked, their rate told bucket by bucket: what `gemm` and `gemm-library`
// share.
#pragma once

#include "gpu/work/stress/load.hpp"

namespace gpuvet {

// The shape for the memory that is free now; throws when there is not even enough for the smallest.
ProductShape shape_for_free_memory(Bench& bench);

// Tells engine, shape and pattern, proves the first product, then runs for options.seconds.
void sustain(Load& load);

} // namespace gpuvet
