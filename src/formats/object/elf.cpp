#include "formats/object/elf.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint64_t kMaxSections = uint64_t{1} << 20;

// Field offsets that differ between the classes.
struct Layout {
  unsigned entry, phoff, shoff, flags, ehsize;
};
constexpr Layout kLayout32{24, 28, 32, 36, 40}, kLayout64{24, 32, 40, 48, 52};

uint64_t word(Bytes bytes, uint64_t at, bool is64) {
  if (is64) return bytes.read<uint64_t>(at).value_or(0);
  return bytes.read<uint32_t>(at).value_or(0);
}

} // namespace

uint64_t ElfHeader::table_end() const {
  uint64_t sections = section_offset + uint64_t{section_count} * section_size;
  uint64_t programs = program_offset + uint64_t{program_count} * program_size;
  return std::max({sections, programs, uint64_t{is64 ? 64u : 52u}});
}

Result<ElfHeader> parse_elf_header(Bytes start) {
  if (start.size() < 52 || start.read<uint32_t>(0) != 0x464C457F) return fail("not an ELF file");
  uint8_t klass = start.data()[4], data = start.data()[5];
  if ((klass != 1 && klass != 2) || data != 1)
    return fail("an ELF file of a class or byte order that no CUDA platform uses");
  ElfHeader header;
  header.is64 = klass == 2;
  if (header.is64 && start.size() < 64) return fail("the ELF header is cut off");
  const Layout& at = header.is64 ? kLayout64 : kLayout32;
  header.osabi = start.data()[7];
  header.abi_version = start.data()[8];
  header.type = *start.read<uint16_t>(16);
  header.machine = *start.read<uint16_t>(18);
  header.version = *start.read<uint32_t>(20);
  header.program_offset = word(start, at.phoff, header.is64);
  header.section_offset = word(start, at.shoff, header.is64);
  header.flags = *start.read<uint32_t>(at.flags);
  header.program_size = *start.read<uint16_t>(at.ehsize + 2);
  header.program_count = *start.read<uint16_t>(at.ehsize + 4);
  header.section_size = *start.read<uint16_t>(at.ehsize + 6);
  header.section_count = *start.read<uint16_t>(at.ehsize + 8);
  header.names_index = *start.read<uint16_t>(at.ehsize + 10);
  constexpr uint64_t limit = uint64_t{1} << 56; // keeps every later sum below 2^64
  if (header.section_offset > limit || header.program_offset > limit)
    return fail("the ELF header points behind any possible end");
  uint16_t section_entry = header.is64 ? 64 : 40, program_entry = header.is64 ? 56 : 32;
  if (header.section_offset && header.section_count && header.section_size != section_entry)
    return fail("the ELF section headers have an unknown size");
  if (header.program_offset && header.program_count && header.program_size != program_entry)
    return fail("the ELF program headers have an unknown size");
  return header;
}

uint64_t section_table_size(const ElfHeader& header, Bytes first) {
  if (header.section_offset == 0) return 0;
  uint64_t entry = header.is64 ? 64 : 40;
  uint64_t count = header.section_count;
  if (count == 0) count = word(first, header.is64 ? 32 : 20, header.is64); // sh_size of section 0
  return std::min(count, kMaxSections) * entry;
}

Result<std::vector<ElfSection>> parse_section_table(const ElfHeader& header, Bytes table,
                                                    std::vector<uint32_t>& name_offsets,
                                                    ElfSection& names) {
  uint64_t entry = header.is64 ? 64 : 40;
  uint64_t size = section_table_size(header, table);
  if (size > table.size()) return fail("the section table reaches behind the end of the file");
  std::vector<ElfSection> sections;
  for (uint64_t at = 0; at < size; at += entry) {
    ElfSection section;
    bool is64 = header.is64;
    name_offsets.push_back(*table.read<uint32_t>(at));
    section.type = *table.read<uint32_t>(at + 4);
    section.flags = word(table, at + 8, is64);
    section.address = word(table, at + (is64 ? 16 : 12), is64);
    section.offset = word(table, at + (is64 ? 24 : 16), is64);
    section.size = word(table, at + (is64 ? 32 : 20), is64);
    section.link = *table.read<uint32_t>(at + (is64 ? 40 : 24));
    section.info = *table.read<uint32_t>(at + (is64 ? 44 : 28));
    sections.push_back(std::move(section));
  }
  uint32_t index = header.names_index;
  if (index == 0xffff && !sections.empty()) index = sections[0].link;
  if (index < sections.size()) names = sections[index];
  return sections;
}

void name_sections(std::vector<ElfSection>& sections, const std::vector<uint32_t>& name_offsets,
                   Bytes names) {
  for (size_t i = 0; i < sections.size(); ++i)
    if (auto name = names.c_string(name_offsets[i])) sections[i].name = *name;
}

Result<std::vector<ElfSection>> parse_sections(const ElfHeader& header, Bytes file) {
  Bytes rest = file.clamp(header.section_offset, file.size());
  return parse_sections(header, rest, [&](uint64_t offset, uint64_t size) {
    return file.slice(offset, size).value_or(Bytes{});
  });
}

std::vector<ElfSegment> parse_segments(const ElfHeader& header, Bytes start) {
  std::vector<ElfSegment> segments;
  for (uint16_t i = 0; i < header.program_count; ++i) {
    uint64_t at = header.program_offset + uint64_t{i} * header.program_size;
    auto bytes = start.slice(at, header.is64 ? 56 : 32);
    if (!bytes) break;
    bool is64 = header.is64;
    segments.push_back({*bytes->read<uint32_t>(0), word(*bytes, is64 ? 8 : 4, is64),
                        word(*bytes, is64 ? 16 : 8, is64), word(*bytes, is64 ? 32 : 16, is64)});
  }
  return segments;
}

std::optional<uint64_t> file_offset(const std::vector<ElfSegment>& segments, uint64_t address) {
  for (const ElfSegment& segment : segments)
    if (segment.type == 1 && address >= segment.address &&
        address - segment.address < segment.file_size)
      return segment.offset + (address - segment.address);
  return std::nullopt;
}

std::optional<uint64_t> virtual_address(const std::vector<ElfSegment>& segments, uint64_t offset) {
  for (const ElfSegment& segment : segments)
    if (segment.type == 1 && offset >= segment.offset &&
        offset - segment.offset < segment.file_size)
      return segment.address + (offset - segment.offset);
  return std::nullopt;
}

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name) {
  auto found = std::find_if(sections.begin(), sections.end(),
                            [&](const ElfSection& section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

} // namespace gpuvet
