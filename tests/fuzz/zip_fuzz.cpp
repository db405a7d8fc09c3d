// Zip directories and members from hostile bytes.
#include "formats/zip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto zip = gpuvet::read_zip(gpuvet::Bytes(data, size), "input");
  if (!zip) return 0;
  for (const gpuvet::ZipMember& member : zip->members) {
    auto stream = gpuvet::open_member(*zip, member, "input");
    for (uint64_t at = 0; stream && at < (1 << 22); at += 1000) {
      auto bytes = (*stream)->window(at, 1500);
      if (!bytes || bytes->empty()) break;
    }
  }
  return 0;
}
