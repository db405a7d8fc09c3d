// Which Python packages bear on GPUs, and in which of their files the GPU code lies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// `name` is normalised ("flash-attn"); names of pip and of conda.
bool is_gpu_package(std::string_view name);

struct CodePlace {
  std::string_view package; // a trailing '*' takes any end
  std::string_view folder;  // below site-packages; empty: there itself
  std::string_view files;   // shell pattern
};

// Where the kernels of a package lie. Packages that compile theirs at run time have no place.
std::vector<CodePlace> code_places(std::string_view name);

} // namespace gpuvet
