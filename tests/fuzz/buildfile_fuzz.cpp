// Build files: the first byte chooses the kind.
#include "formats/buildfile/buildfile.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  auto kind = static_cast<gpuvet::BuildFileKind>(data[0] % 12);
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  gpuvet::BuildFile file = gpuvet::read_build_file(kind, text);
  // A place outside of the file would make --fix write nonsense.
  for (const gpuvet::BuildSetting& setting : file.settings)
    if (setting.at.begin > setting.at.end || setting.at.end > text.size()) std::abort();
  return 0;
}
