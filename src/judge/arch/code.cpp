#include "judge/arch/code.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint32_t kEntryHeader = 0x48; // bytes, as toolkits write it

} // namespace

Code sass_code(Target target) {
  return {target, false, target};
}

// Measured with nvcc 13.0: arch=compute_100f,code=sm_103 makes an image for sm_103f.
Code sass_code(Target target, Target from) {
  if (from.suffix == 'f' && target.suffix == 0) target.suffix = 'f';
  return {target, false, from};
}

Code ptx_code(Target target) {
  return {target, true, target};
}

CodeSet normalised(CodeSet codes) {
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  return codes;
}

std::string code_name(const Code& code) {
  if (code.ptx) return "PTX of " + compute_name(code.target);
  if (code.from == code.target) return sm_name(code.target);
  return fmt::format("{} from {}", sm_name(code.target), compute_name(code.from));
}

std::string codes_text(const CodeSet& codes) {
  std::string text;
  for (bool ptx : {false, true})
    for (const Code& code : codes)
      if (code.ptx == ptx) text += (text.empty() ? "" : ", ") + code_name(code);
  return text.empty() ? "nothing" : text;
}

Container planned_container(const CodeSet& codes, const Version& isa) {
  Container container;
  for (const Code& code : codes) {
    Image image;
    image.kind = code.ptx ? ImageKind::ptx : ImageKind::cubin;
    image.target = code.target;
    image.header_size = kEntryHeader;
    if (code.ptx) {
      image.version_major = static_cast<uint16_t>(isa.major());
      image.version_minor = static_cast<uint16_t>(isa.minor());
    }
    container.images.push_back(image);
  }
  return container;
}

} // namespace gpuvet
