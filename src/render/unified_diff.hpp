// What changes between two texts, as `diff -u` prints it and `patch` takes it.
#pragma once

#include "render/terminal.hpp"

namespace gpuvet {

// For changes inside lines: both texts have as many lines. Empty when they are the same.
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after,
                         const TextStyle& style);

} // namespace gpuvet
