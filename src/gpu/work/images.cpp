#include "gpu/work/images.hpp"

#include "gpu/cuda_api.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string capability_text(uint32_t sm) {
  return fmt::format("{}.{}", sm / 10, sm % 10);
}

bool runs_on(const KernelImage& image, uint32_t sm) {
  if (image.exact) return image.sm == sm;
  bool same_family = image.sm / 10 == sm / 10;
  return image.sm <= sm && (image.kind == "ptx" || same_family);
}

// Code for one model first. Then the text before machine code: it is the text that was proved, and
// the other is there for drivers without a compiler.
int rank(const KernelImage& image) {
  return (image.exact ? 2'000'000 : 0) + (image.exact == (image.kind == "cubin") ? 1'000'000 : 0) +
         static_cast<int>(image.sm);
}

// Without line feeds, for a sentence.
std::string in_one_line(const std::string& log) {
  std::string text;
  for (char c : log)
    if (c != '\n')
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

} // namespace

std::vector<KernelImage> images_for(const std::vector<KernelImage>& all, std::string_view blob,
                                    uint32_t sm) {
  std::vector<KernelImage> fit;
  for (const KernelImage& image : all)
    if (image.blob == blob && runs_on(image, sm)) fit.push_back(image);
  std::stable_sort(fit.begin(), fit.end(),
                   [](const KernelImage& a, const KernelImage& b) { return rank(a) > rank(b); });
  return fit;
}

std::string why_no_image(const std::vector<KernelImage>& all, std::string_view blob, uint32_t sm) {
  std::string targets;
  for (const KernelImage& image : all) {
    if (image.blob != blob) continue;
    std::string target = capability_text(image.sm) + (image.exact ? " alone" : " and newer");
    if (targets.find(target) == std::string::npos)
      targets += (targets.empty() ? "" : ", ") + target;
  }
  if (targets.empty()) return fmt::format("gpuvet carries no kernels named {}", blob);
  return fmt::format("the kernels {} are for compute capability {}; this GPU has {}", blob, targets,
                     capability_text(sm));
}

std::string why_not_loaded(std::string_view blob, uint32_t sm, const std::string& error, int code,
                           const std::string& log) {
  std::string why =
      fmt::format("the driver did not load the kernels {}: {} ({})", blob, error, code);
  if (code == kCudaUnsupportedPtxVersion)
    why += "; their PTX is newer than this driver's compiler knows: a newer driver is needed";
  if (code == kCudaNoBinaryForGpu)
    why += fmt::format("; it found no code for compute capability {}", capability_text(sm));
  if (!log.empty()) why += "; its compiler says: " + in_one_line(log);
  return why;
}

std::string describe(const KernelImage& image) {
  return fmt::format("{} for compute capability {}{}", image.kind == "ptx" ? "PTX" : "machine code",
                     capability_text(image.sm), image.exact ? "a" : "");
}

} // namespace gpuvet
