// PTX text.
#include "formats/gpu/cubin.hpp"
#include "formats/gpu/ptx.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)gpuvet::parse_ptx_head(text);
  (void)gpuvet::ptx_kernels(text);
  return 0;
}
