// The loader's cache, in every layout.
#include "formats/ld_cache.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (auto cache = gpuvet::parse_ld_cache(gpuvet::Bytes(data, size)))
    (void)gpuvet::find_in_cache(*cache, "libcuda.so.1", 0x303, {"x86-64-v3", "x86-64-v2"});
  return 0;
}
