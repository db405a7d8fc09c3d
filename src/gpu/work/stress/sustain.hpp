// Products for as long as asked, their rate told bucket by bucket: what `gemm` and `gemm-library`
// share.
#pragma once

#include "gpu/work/stress/load.hpp"

namespace gpuvet {

// The shape for the memory that is free now; throws when there is not even enough for the smallest.
ProductShape shape_for_free_memory(Bench& bench);

// Proves the first product of each engine and keeps the fastest. Throws when one is wrong. Gives
// its place in the list.
size_t prove_and_choose(Load& load, const std::vector<ProductEngine>& engines);

// Tells engine, shape and pattern, then runs for options.seconds what was proved.
void sustain(Load& load);

} // namespace gpuvet
