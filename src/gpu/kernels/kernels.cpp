#include "gpu/kernels/kernels.hpp"

#include <cctype>
#include <cstddef>

namespace gpuvet {

struct EmbeddedKernel {
  const char* name; // file of gpu/kernels/images
  const char* begin;
  const char* end;
};
// Ends with a row of null pointers. Made by cmake/kernels.cmake.
extern "C" const EmbeddedKernel gpuvet_embedded_kernels[];

namespace {

// Reads "80" or "90a" behind the first `mark` in the text.
void read_target(std::string_view text, std::string_view mark, KernelImage& image) {
  size_t at = text.find(mark);
  if (at == std::string_view::npos) return;
  for (at += mark.size(); at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
       ++at)
    image.sm = image.sm * 10 + static_cast<uint32_t>(text[at] - '0');
  image.exact = at < text.size() && text[at] == 'a';
}

std::vector<KernelImage> read_images() {
  std::vector<KernelImage> images;
  for (const EmbeddedKernel* file = gpuvet_embedded_kernels; file->name; ++file) {
    std::string_view name = file->name; // "core.ptx", "core.sm_90.cubin", "gemm_sm90a.cubin"
    KernelImage image;
    image.blob = name.substr(0, name.find('.'));
    image.kind = name.substr(name.rfind('.') + 1);
    image.bytes = {file->begin, static_cast<size_t>(file->end - file->begin)};
    if (image.kind == "ptx")
      read_target(image.bytes.substr(0, 4096), "\n.target sm_", image);
    else if (name.find(".sm_") != std::string_view::npos)
      read_target(name, ".sm_", image);
    else // the name of the blob says it
      read_target(image.blob, "_sm", image);
    images.push_back(image);
  }
  return images;
}

} // namespace

const std::vector<KernelImage>& kernel_images() {
  static const std::vector<KernelImage> images = read_images();
  return images;
}

} // namespace gpuvet
