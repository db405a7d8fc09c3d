// Logs of builds, in pieces.
#include "formats/buildlog/build_log_reader.hpp"

#include <algorithm>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpuvet::BuildLogReader reader;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    reader.feed(text.substr(0, 61));
    text.remove_prefix(std::min<size_t>(61, text.size()));
  }
  (void)reader.finish();
  return 0;
}
