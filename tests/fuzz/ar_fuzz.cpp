// Static archives, thin ones too.
#include "formats/object/ar.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpuvet::MemoryStream stream(gpuvet::Bytes(data, size));
  gpuvet::for_each_ar_member(stream, [](const gpuvet::ArMember&) {});
  (void)gpuvet::thin_archive_members(stream);
  return 0;
}
