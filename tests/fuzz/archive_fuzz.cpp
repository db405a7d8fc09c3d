// Archives of every kind, nested, compressed; the content decides.
#include "unpack_for_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  unpack_for_fuzz("input.conda", data, size);
  return 0;
}
