// Numbers of bytes as programs print them.
#pragma once

#include "facts/oom/oom.hpp"
#include "model/oom.hpp"

#include <string_view>

namespace gpuvet {

// "2.56 GiB", "1,234 bytes", "512"; a number without unit is of `unit`, which may be empty: bytes.
// What stands for "not available" (2^64), is negative or larger than 2^64 is unknown, with the
// reason.
OomAmount parse_amount(std::string_view text, std::string_view unit,
                       const std::vector<OomUnit>& units);

// Larger than any GPU's memory: not a size of anything that exists there, 8 TiB.
constexpr uint64_t kAbsurdBytes = uint64_t{8} << 40U;

} // namespace gpuvet
