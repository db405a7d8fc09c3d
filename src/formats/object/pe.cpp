// Windows executables and DLLs: the container lies in section ".nv_fatb", its wrapper in
// ".nvFatBi" (names are cut to 8 characters); the records are laid out as in ELF files.
// Source: Microsoft PE format specification for the section table.
#include "formats/gpu/scan_state.hpp"

namespace gpuvet {
namespace {

struct PeSection {
  std::string name;
  uint32_t offset = 0, size = 0;
};

std::vector<PeSection> parse_pe_sections(Bytes head) {
  std::vector<PeSection> sections;
  auto pe = head.read<uint32_t>(0x3c);
  if (!pe || head.read<uint32_t>(*pe) != 0x00004550) return sections; // "PE\0\0"
  auto count = head.read<uint16_t>(*pe + 6ull), optional = head.read<uint16_t>(*pe + 20ull);
  if (!count || !optional) return sections;
  uint64_t at = *pe + 24ull + *optional;
  for (uint16_t i = 0; i < *count; ++i, at += 40) {
    auto name = head.slice(at, 8);
    auto size = head.read<uint32_t>(at + 16), offset = head.read<uint32_t>(at + 20);
    if (!name || !size || !offset) break;
    std::string_view text = name->text();
    sections.push_back({std::string(text.substr(0, text.find('\0'))), *offset, *size});
  }
  return sections;
}

} // namespace

void attribute_pe(ScanState& state) {
  auto sections = parse_pe_sections(Bytes(state.head.data(), state.head.size()));
  for (Container& container : state.found) {
    uint64_t offset = container.offset - state.reader.base();
    for (const PeSection& section : sections)
      if (offset >= section.offset && offset - section.offset < section.size)
        container.section = section.name;
    if (container.role != Role::bare)
      container.role = container.section == ".nv_fatb" ? Role::registered : Role::embedded;
  }
  std::erase_if(state.found, [](const Container& container) {
    return container.images.empty() && !container.problem.empty() &&
           container.section != ".nv_fatb";
  });
}

} // namespace gpuvet
