// See cuda_products.cpp. `maps`: the operands are tensor maps, as for gemm_sm90a.
#pragma once

#include "gpu/cuda_api.hpp"

#include <vector>

namespace fake {

std::vector<size_t> product_sizes(bool maps);
void run_product(void** arguments, bool maps, bool wrong); // wrong: one element is off by one
double product_flop(void** arguments, bool maps);
void run_pipe(void** arguments, double sm_mhz);

} // namespace fake
