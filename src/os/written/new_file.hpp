// Writing a file that was not there before: an existing one is never touched.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace gpuvet {

// Readable by its owner and group only. On an error nothing is left behind.
Result<void> write_new_file(const std::string& path, std::string_view text);

} // namespace gpuvet
