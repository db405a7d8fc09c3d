// A policy file, from its text to the requirements.
#include "judge/policy/policy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const gpuvet::Facts facts;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)gpuvet::read_policy(text, "gpuvet.toml", facts);
  return 0;
}
