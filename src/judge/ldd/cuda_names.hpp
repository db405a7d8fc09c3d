// What the names of CUDA's shared libraries tell: which library, of which CUDA version, and who
// ships it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct CudaName {
  std::string library; // "cudart", "cublasLt", "cudnn_ops"; empty: none of CUDA's
  std::string version; // "12", "11.0"; empty: the name has none
  uint32_t cuda = 0;   // CUDA major version; 0: several have this name, or it is not tied to one
};

// Of a soname or a file's name: "libcudart.so.12", "libcublas.so.12.8.4.1".
CudaName cuda_name(std::string_view name);

// Is it of CUDA or the driver, or of a framework on top ("libtorch_cuda.so")?
bool is_cuda_library(std::string_view name);

// Of the C and C++ run-time, which every program has: "libc.so.6", "libstdc++.so.6".
bool is_system_library(std::string_view name);

// Commands that bring the library, the most fitting first; empty: not known. `for_python`: a file
// of a Python environment asks.
std::vector<std::string> commands_for(std::string_view name, bool for_python);

// The library that offers a function, by the function's name: "cudart" for "cudaMalloc",
// "nvJitLink" for "__nvJitLinkComplete_12_4"; empty: not known.
std::string_view library_of_symbol(std::string_view symbol);

} // namespace gpuvet
