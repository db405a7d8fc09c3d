// Which of the kernels' images a GPU can run, and what to say when it can run none.
#pragma once

#include "gpu/kernels/kernels.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// Best first: machine code for this GPU, machine code of its family, PTX from newest to oldest.
// `sm`: compute capability x 10.
std::vector<KernelImage> images_for(const std::vector<KernelImage>& all, std::string_view blob,
                                    uint32_t sm);

std::string why_no_image(const std::vector<KernelImage>& all, std::string_view blob, uint32_t sm);

std::string why_not_loaded(std::string_view blob, uint32_t sm, const std::string& error, int code,
                           const std::string& log);

std::string describe(const KernelImage& image); // "PTX for compute capability 5.2"

} // namespace gpuvet
