// The first byte chooses the compression, the rest is the data.
#include "formats/gpu/decompress.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  auto compression = static_cast<gpuvet::Compression>(data[0] % 5);
  gpuvet::Bytes stored(data + 2, size - 2);
  (void)gpuvet::decompress(compression, stored, uint64_t{data[1]} * 1024, 1 << 20);
  return 0;
}
