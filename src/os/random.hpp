// A number that nobody can foresee.
#pragma once

#include <cstdint>

namespace gpuvet {

uint64_t random_number();

} // namespace gpuvet
