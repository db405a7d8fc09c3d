// Runs that were kept with --log or --json.
#pragma once

#include "formats/verify/verify_lines.hpp"

#include <string>

namespace gpuvet {

Result<SavedRun> read_saved_run(const std::string& path);

} // namespace gpuvet
