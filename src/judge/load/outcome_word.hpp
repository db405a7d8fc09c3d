// What a load verdict is called in tables.
#pragma once

#include "judge/load/load.hpp"

namespace gpuvet {

const char* outcome_word(LoadOutcome outcome); // "native", "compat", "jit", "may fail", "none"

} // namespace gpuvet
