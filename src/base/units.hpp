// Quantities as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace gpuvet {

// "456 MB", "13.9 KB", "0 B": decimal units, three figures.
std::string human_bytes(uint64_t bytes);

} // namespace gpuvet
