// A cubin: header, notes and kernel names, by the short way and by the symbol table.
#include "formats/gpu/cubin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpuvet::Bytes bytes(data, size);
  if (auto header = gpuvet::parse_cubin_header(bytes)) gpuvet::complete_from_notes(*header, bytes);
  gpuvet::Image image{.kind = gpuvet::ImageKind::cubin, .stored_size = size, .raw_size = size};
  (void)gpuvet::cubin_kernels(
      image, [&](size_t n) -> gpuvet::Result<gpuvet::Bytes> { return bytes.clamp(0, n); });
  return 0;
}
