// What the loader reads of an ELF file, and its symbols of CUDA libraries.
#include "formats/object/elf_dynamic.hpp"
#include "formats/object/elf_symbols.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)gpuvet::parse_elf_facts(gpuvet::Bytes(data, size));
  (void)gpuvet::parse_gpu_symbols(gpuvet::Bytes(data, size));
  return 0;
}
