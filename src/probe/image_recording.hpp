// Finds a recording on disk: a file as `gpuvet snapshot` wrote it (JSON, plain or zstd), or a
// folder with recording.json. The bases that it names are found beside it and laid under it.
#pragma once

#include "base/result.hpp"
#include "model/recording.hpp"

#include <memory>
#include <string>

namespace gpuvet {

Result<std::shared_ptr<Recording>> load_recording(const std::string& path);

// Is there a recording, rather than the root of some system's files?
bool is_recording(const std::string& path);

} // namespace gpuvet
