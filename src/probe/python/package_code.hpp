// GPU code of the packages of an environment, and the CUDA libraries that wheels bring.
#pragma once

#include "probe/source.hpp"

#include <vector>

namespace gpuvet {

// Of each package's principal libraries; each file once.
std::vector<PackageCode> read_package_code(const Source& source, const PythonEnv& env);

// Libraries below nvidia/, tensorrt_libs/ and torch/lib of each folder, and of a conda environment.
std::vector<CudaLibrary> python_libraries(const Source& source, const PythonEnv& env);

// Toolkits that wheels bring: nvidia/cuda_nvcc, nvidia/cu13.
std::vector<InstalledToolkit> python_toolkits(const Source& source, const PythonEnv& env);

} // namespace gpuvet
