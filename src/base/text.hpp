// Small work on text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// "a, b, c"
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

} // namespace gpuvet
