// CUDA libraries outside Python environments: the loader's default folders, what its settings add,
// and toolkits.
#pragma once

#include "probe/software/toolkits.hpp"
#include "probe/source.hpp"

#include <string>
#include <vector>

namespace gpuvet {

std::vector<CudaLibrary> find_libraries(const Source& source, const Environment& environment,
                                        const std::vector<InstalledToolkit>& toolkits);

std::vector<CudnnHeader> find_cudnn_headers(const Source& source, const Environment& environment,
                                            const std::vector<InstalledToolkit>& toolkits);

} // namespace gpuvet
