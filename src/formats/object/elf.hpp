// The little of ELF that gpuvet needs: headers, the section table, program headers, and the value
// that relocation puts into a pointer. Reads both classes (64-bit; 32-bit for old cubins), little
// endian. Section headers may be missing (sstrip): then the program headers still locate data.
// Source: System V ABI, gABI chapters 4 and 5.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuvet {

constexpr uint16_t kMachineCuda = 190;

struct ElfHeader {
  bool is64 = true;
  uint8_t osabi = 0, abi_version = 0;
  uint16_t type = 0, machine = 0; // type: 1 relocatable, 2 executable, 3 shared
  uint32_t version = 0, flags = 0;
  uint64_t program_offset = 0, section_offset = 0;
  uint16_t program_size = 0, program_count = 0; // bytes of one header; number of headers
  uint16_t section_size = 0, section_count = 0; // count 0 with a table: see section 0
  uint16_t names_index = 0;

  // Where the file ends, judged by its tables; the extent of an ELF file inside other data.
  uint64_t table_end() const;
};

struct ElfSection {
  std::string name;
  uint32_t type = 0; // SHT_*
  uint64_t flags = 0, address = 0, offset = 0, size = 0;
  uint32_t link = 0, info = 0;
  bool has_bytes() const { return type != 0 && type != 8; } // SHT_NOBITS holds none
};

struct ElfSegment {
  uint32_t type = 0;
  uint64_t offset = 0, address = 0, file_size = 0;
};

// The file's first bytes (64 suffice). Errors: not an ELF file, big endian, impossible sizes.
Result<ElfHeader> parse_elf_header(Bytes start);

// How many bytes the section table has, at header.section_offset; section 0 may hold the count of
// tables with more than 65279 entries, so `first` gives the table's first entry where it is known.
uint64_t section_table_size(const ElfHeader& header, Bytes first = {});

// Sections from the table's bytes. `strings(offset, size)` reads the name table, and may fail: then
// names are empty. Errors: a table that does not fit, more than 2^20 sections.
template <class ReadStrings> Result<std::vector<ElfSection>>
parse_sections(const ElfHeader& header, Bytes table, ReadStrings&& strings);

// The same for a file that is in memory as a whole.
Result<std::vector<ElfSection>> parse_sections(const ElfHeader& header, Bytes file);

std::vector<ElfSegment> parse_segments(const ElfHeader& header, Bytes start);

// File offset of a virtual address, through the PT_LOAD segments.
std::optional<uint64_t> file_offset(const std::vector<ElfSegment>& segments, uint64_t address);
std::optional<uint64_t> virtual_address(const std::vector<ElfSegment>& segments, uint64_t offset);

const ElfSection* find_section(const std::vector<ElfSection>& sections, std::string_view name);

// Internal: sections without names; `names` gets the header of the name table.
Result<std::vector<ElfSection>> parse_section_table(const ElfHeader& header, Bytes table,
                                                    std::vector<uint32_t>& name_offsets,
                                                    ElfSection& names);
void name_sections(std::vector<ElfSection>& sections, const std::vector<uint32_t>& name_offsets,
                   Bytes names);

template <class ReadStrings> Result<std::vector<ElfSection>>
parse_sections(const ElfHeader& header, Bytes table, ReadStrings&& strings) {
  std::vector<uint32_t> name_offsets;
  ElfSection names;
  auto sections = parse_section_table(header, table, name_offsets, names);
  if (sections && names.has_bytes())
    name_sections(*sections, name_offsets, strings(names.offset, names.size));
  return sections;
}

} // namespace gpuvet
