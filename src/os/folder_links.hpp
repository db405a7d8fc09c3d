// Where many links lead: /proc/PID/fd of every process of a busy machine.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// Targets, among the first `most` links of a folder, that start with `prefix`; each once, sorted.
Result<std::vector<std::string>> link_targets(const std::string& folder, std::string_view prefix,
                                              size_t most);

} // namespace gpuvet
