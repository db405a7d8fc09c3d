// What the frameworks of an environment say about themselves in files: the CUDA that they were
// built for, and the tools that they bring.
#pragma once

#include "probe/source.hpp"

#include <map>
#include <string>
#include <string_view>

namespace gpuvet {

// Assignments of torch/version.py: "version" -> "2.6.0+cu124", "cuda" -> "12.4"; None is left out.
std::map<std::string, std::string> parse_torch_version(std::string_view text);

// Quoted values of TensorFlow's build_info.py: "cuda_version" -> "12.5.1".
std::map<std::string, std::string> parse_build_info(std::string_view text);

// Of the first copy of each framework in the environment's folders, which is the one imported.
void read_frameworks(const Source& source, PythonEnv& env);

} // namespace gpuvet
