// The packages of a Python environment that bear on GPUs, read from what the installers left:
// *.dist-info, *.egg-info, conda-meta.
#pragma once

#include "probe/source.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuvet {

// Every copy in every folder, in search order. `values` are the variables of requirements'
// conditions.
std::vector<PythonPackage> read_python_packages(const Source& source,
                                                const std::vector<std::string>& folders,
                                                const std::string& conda_prefix,
                                                const std::map<std::string, std::string>& values);

} // namespace gpuvet
