// The data of src/gpu/kernels/mix.hpp written and checked by the CPU, on as many threads as this
// process may use: every byte that crosses the link is compared, so the CPU has to keep pace.
#pragma once

#include "gpu/kernels/kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gpuvet {

// to[i] = word_value(i, seed) ^ flip
void fill_words(uint64_t* to, size_t words, uint64_t seed, uint64_t flip = 0);

// As the kernel gv_check; places are in rising order.
Mismatches check_words(const uint64_t* from, size_t words, uint64_t seed, uint64_t flip = 0);

// The sum of the 32-bit halves of words 0 to words-1, as gv_read gives it.
uint64_t sum_of_halves(size_t words, uint64_t seed);

// "2 words of 8 bytes differ in bits 0x10, the first at byte 4096: 0x... instead of 0x..."
std::string describe_host(const Mismatches& found);

} // namespace gpuvet
