// Libraries that CUDA libraries open by name while they run, which their dynamic section does not
// tell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// Of the library with this soname.
std::vector<std::string> opened_at_run_time(std::string_view soname);

} // namespace gpuvet
