// Imports the frameworks of an environment in its interpreter, each in a process of its own.
#pragma once

#include "probe/source.hpp"

#include <vector>

namespace gpuvet {

std::vector<PythonEnv::Import> import_packages(const Source& source, const PythonEnv& env);

} // namespace gpuvet
