#include "judge/lint/code_image.hpp"

namespace gpuvet {

Image code_image(Target target, bool ptx, const LoadRules& rules) {
  Image image;
  image.target = target;
  image.kind = ptx ? ImageKind::ptx : ImageKind::cubin;
  if (ptx && !rules.ptx_isas.empty()) {
    const Version& newest = rules.ptx_isas.back().isa;
    image.version_major = static_cast<uint16_t>(newest.major());
    image.version_minor = static_cast<uint16_t>(newest.minor());
  }
  return image;
}

} // namespace gpuvet
