// Compiled parts of packages: whether PyTorch's were built with torch's C++ ABI, and which CUDA
// libraries they need that are nowhere.
#pragma once

#include "probe/loader/subjects.hpp"
#include "probe/source.hpp"

#include <vector>

namespace gpuvet {

// "cxx11" or "old", by how std::string stands in the name of a function of libc10 that a file calls
// or has; empty where it has none.
std::string cxx_abi_of(const Source& source, const std::string& file);

// Fills `extensions` (those that call PyTorch, and others that lack a library) and
// `unversioned_entry`. Needs env.torch and env.packages. `trees`: of the environment;
// `libraries`: those of its wheels.
void read_extensions(const Source& source, const std::vector<PackageTree>& trees,
                     const std::vector<CudaLibrary>& libraries, PythonEnv& env);

} // namespace gpuvet
