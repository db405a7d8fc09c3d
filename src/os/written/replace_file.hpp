// Putting a new text into an existing file so that at every moment the old or the new one is there
// as a whole.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace gpuvet {

// Only if the file still holds `before`. Links are followed; mode, owner and extended attributes
// stay. Refused, with the file left as it is: a file with several names (hard links), attributes or
// an owner that can't be kept.
Result<void> replace_file(const std::string& path, std::string_view before, std::string_view after);

} // namespace gpuvet
