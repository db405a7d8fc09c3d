// CUDA libraries by their file names: what they are, which part, which version.
#pragma once

#include "probe/source.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct LibraryName {
  std::string kind;    // "cudnn"
  std::string part;    // "ops"; empty: the main library
  std::string version; // all numbers after ".so.": "9.1.0", "12", ""
};

// "libcudnn_ops.so.9.1.0"; also the names that wheels give to bundled copies:
// "libcudart-d0da41ae.so.11.0". nullopt for any other library.
std::optional<LibraryName> parse_library_name(std::string_view file_name);

// The CUDA libraries in a folder (a path without links), each file once, by its most telling name
// ("libcudnn.so.9"). Owner and origin are not filled in; a version only where the real file's name
// tells it in full.
std::vector<CudaLibrary> list_cuda_libraries(const Source& source, const std::string& folder);

// Version in a cuDNN header, "9.1.0"; empty when it holds none.
std::string cudnn_header_version(const Source& source, const std::string& file);

} // namespace gpuvet
