// Who else uses a GPU.
#pragma once

#include "gpu/work/survey/nvml_entries.hpp"

#include <string>

namespace gpuvet {

// "process 4711 (python3)", "something that cannot be seen from here keeps it busy (57 %)"; empty:
// nobody. gpuvet itself and what it started do not count; what only draws a desktop counts when the
// GPU is busy. `proc`: where /proc is.
std::string who_uses(const NvmlEntry& entry, const std::string& proc = "/proc");

} // namespace gpuvet
