// The same data through our own kernel, so that a wrong library can be told from a wrong GPU.
#pragma once

#include "gpu/work/stress/load.hpp"

#include <string>

namespace gpuvet {

// Multiplies once and compares every tile with the CPU's: how many are wrong.
unsigned wrong_tiles(Load& load);

// "right", "wrong" or "not run".
std::string own_product(Bench& bench, const StepOptions& options, const ProductShape& shape);

} // namespace gpuvet
