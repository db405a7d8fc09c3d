// Where the libcuda of cuda-compat (forward compatibility) lies. Its folder is what tells it: the
// note .note.cuda.fwd_compatibility stands in the driver's own libcuda too (seen in 580.159.04).
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace gpuvet {

// Is a file of this path in such a folder, or below one? /usr/local/cuda-13.0/compat and
// compat_orin come with NVIDIA's packages, PREFIX/cuda-compat with conda-forge's
// (cuda-compat-impl).
inline bool in_compat_folder(std::string_view path) {
  constexpr std::array<std::string_view, 3> folders = {"/compat/", "/compat_orin/",
                                                       "/cuda-compat/"};
  return std::any_of(folders.begin(), folders.end(), [path](std::string_view folder) {
    return path.find(folder) != std::string_view::npos;
  });
}

} // namespace gpuvet
