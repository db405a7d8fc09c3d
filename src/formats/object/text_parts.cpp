#include "formats/object/text_parts.hpp"

#include "formats/object/elf.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint64_t kExecutable = 4;            // SHF_EXECINSTR
constexpr uint64_t kWorth = uint64_t{1} << 20; // bytes of code; less is not worth leaving out

std::vector<FilePart> machine_code(Bytes file) {
  std::vector<FilePart> code;
  auto header = parse_elf_header(file);
  if (!header || header->machine == kMachineCuda) return code;
  auto sections = parse_sections(*header, file);
  if (!sections) return code;
  for (const ElfSection& section : *sections)
    if (section.has_bytes() && (section.flags & kExecutable) != 0 && section.size >= kWorth &&
        file.holds(section.offset, section.size))
      code.push_back({section.offset, section.size});
  std::sort(code.begin(), code.end(),
            [](const FilePart& a, const FilePart& b) { return a.offset < b.offset; });
  return code;
}

} // namespace

std::vector<FilePart> parts_with_text(Bytes file) {
  std::vector<FilePart> parts;
  uint64_t at = 0;
  for (const FilePart& code : machine_code(file)) {
    if (code.offset > at) parts.push_back({at, code.offset - at});
    at = std::max(at, code.offset + code.size); // sections of a hostile file may overlap
  }
  if (at < file.size()) parts.push_back({at, file.size() - at});
  return parts;
}

} // namespace gpuvet
