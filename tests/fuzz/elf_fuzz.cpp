// ELF tables.
#include "formats/object/elf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpuvet::Bytes bytes(data, size);
  auto header = gpuvet::parse_elf_header(bytes);
  if (!header) return 0;
  (void)gpuvet::parse_sections(*header, bytes);
  auto segments = gpuvet::parse_segments(*header, bytes);
  (void)gpuvet::file_offset(segments, header->section_offset);
  return 0;
}
