#include "formats/gpu/scan_state.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

namespace gpuvet {
namespace {

constexpr size_t kMaxTable = size_t{32} << 20;

// Section table and names: from what was kept while reading, or straight from a file in memory.
std::vector<ElfSection> read_sections(ScanState& state) {
  const ElfHeader& elf = *state.elf;
  if (elf.section_offset == 0) return {};
  Bytes kept = state.reader.kept();
  uint64_t from = state.reader.kept_from();
  auto names = [&](uint64_t offset, uint64_t size) -> Bytes {
    if (offset >= from)
      if (auto piece = kept.slice(offset - from, size)) return *piece;
    for (const KeptPiece& piece : state.name_pieces)
      if (offset >= piece.from)
        if (auto part =
                Bytes(piece.bytes.data(), piece.bytes.size()).slice(offset - piece.from, size))
          return *part;
    if (!state.reader.random_access() || size > kMaxTable) return {};
    auto piece = state.reader.view(offset, static_cast<size_t>(size));
    return piece ? *piece : Bytes{};
  };
  Bytes table = kept.clamp(elf.section_offset - from, kept.size());
  auto sections = parse_sections(elf, table, names);
  if (!sections) {
    state.binary.problems.push_back(sections.error().what + ": is the file complete?");
    return {};
  }
  return *sections;
}

// Sections that hold bytes, by offset, to find the one that an offset lies in.
class SectionMap {
 public:
  explicit SectionMap(const std::vector<ElfSection>& sections) {
    for (const ElfSection& section : sections)
      if (section.has_bytes() && section.size > 0) sorted_.push_back(&section);
    std::sort(sorted_.begin(), sorted_.end(),
              [](const ElfSection* a, const ElfSection* b) { return a->offset < b->offset; });
  }
  const ElfSection* at(uint64_t offset) const {
    auto next = std::upper_bound(
        sorted_.begin(), sorted_.end(), offset,
        [](uint64_t value, const ElfSection* section) { return value < section->offset; });
    if (next == sorted_.begin()) return nullptr;
    const ElfSection* section = *(next - 1);
    return offset - section->offset < section->size ? section : nullptr;
  }

 private:
  std::vector<const ElfSection*> sorted_;
};

using WantedPointers = std::unordered_map<uint64_t, WrapperRecord*>; // by the pointer's address

void apply_relocations(Bytes entries, WantedPointers& wanted) {
  for (uint64_t i = 0; entries.holds(i, 24); i += 24) {
    auto found = wanted.find(*entries.read<uint64_t>(i));
    if (found == wanted.end()) continue;
    uint64_t type = *entries.read<uint64_t>(i + 8) & 0xffffffff;
    if (type == 8 || type == 0x403) // R_X86_64_RELATIVE, R_AARCH64_RELATIVE
      found->second->address = *entries.read<uint64_t>(i + 16);
  }
}

// Relative relocations hold the pointer when the linker (lld) leaves zero in place. They stand near
// the start, so a member of a wheel that was read to its end is opened again for them.
void resolve_relocations(ScanState& state, const std::vector<ElfSection>& sections,
                         const std::vector<ElfSegment>& segments) {
  WantedPointers wanted;
  for (WrapperRecord& record : state.wrappers)
    if (auto address = virtual_address(segments, record.offset))
      if (record.address == 0) wanted[*address + 8] = &record;
  if (wanted.empty() || !state.elf->is64) return;
  std::unique_ptr<ByteStream> second;
  if (!state.reader.random_access()) {
    second = state.reader.again();
    if (!second) return;
  }
  std::vector<const ElfSection*> tables; // in file order, since a stream goes forward only
  for (const ElfSection& section : sections)
    if (section.type == 4) tables.push_back(&section); // SHT_RELA
  std::sort(tables.begin(), tables.end(),
            [](const ElfSection* a, const ElfSection* b) { return a->offset < b->offset; });
  for (const ElfSection* table : tables)
    for (uint64_t at = 0; at < table->size;) {
      size_t n = static_cast<size_t>(std::min<uint64_t>(table->size - at, 24u << 15));
      auto piece = second ? second->window(state.reader.base() + table->offset + at, n)
                          : state.reader.view(table->offset + at, n);
      if (!piece || piece->size() < 24) break;
      apply_relocations(*piece, wanted);
      at += piece->size() / 24 * 24;
    }
}

struct References {
  std::unordered_map<uint64_t, uint32_t> version_at; // container offset -> wrapper version
  bool complete = false;                             // every wrapper is accounted for
};

References read_references(ScanState& state, const std::vector<ElfSection>& sections,
                           const SectionMap& map) {
  References references;
  if (state.elf->type == 1) return references; // objects: the pointer is a relocation still
  Bytes head(state.head.data(), state.head.size());
  auto segments = parse_segments(*state.elf, head);
  if (!sections.empty())
    std::erase_if(state.wrappers, [&](const WrapperRecord& record) {
      const ElfSection* section = map.at(record.offset);
      return !section || section->name != ".nvFatBinSegment";
    });
  resolve_relocations(state, sections, segments);
  references.complete = !state.wrappers.empty();
  for (const WrapperRecord& record : state.wrappers) {
    auto offset = record.address ? file_offset(segments, record.address) : std::nullopt;
    if (offset) {
      references.version_at[*offset] = std::max(references.version_at[*offset], record.version);
    } else {
      references.complete = false;
    }
  }
  return references;
}

Role role_of(const Container& container, uint64_t offset, const References& references) {
  if (container.section == "__nv_relfatbin") return Role::relocatable;
  auto found = references.version_at.find(offset);
  if (found != references.version_at.end())
    return found->second == 2 ? Role::linked : Role::registered;
  if (container.section == ".nv_fatbin")
    return references.complete ? Role::unreferenced : Role::registered;
  return Role::embedded;
}

bool in_cuda_section(const Container& container) {
  return container.section == ".nv_fatbin" || container.section == "__nv_relfatbin";
}

void note_sections(ScanState& state, const std::vector<ElfSection>& sections) {
  uint64_t base = state.reader.base();
  for (const ElfSection& section : sections) {
    bool cuda = section.name == ".nv_fatbin" || section.name == "__nv_relfatbin";
    if (cuda && section.type == 8)
      state.binary.notes.push_back("section " + section.name +
                                   " holds no bytes here (split-off debug file): the GPU code is "
                                   "in the original library");
    if (section.name == ".hip_fatbin" || section.name == "__CLANG_OFFLOAD_BUNDLE__hip")
      state.binary.notes.push_back("section " + section.name +
                                   " holds code for AMD GPUs: not CUDA, not judged");
    if (!cuda || !section.has_bytes()) continue;
    uint64_t covered = 0;
    for (const Container& container : state.found)
      if (container.section == section.name && container.offset >= base + section.offset &&
          container.offset - base - section.offset < section.size)
        covered += container.size;
    if (covered + 64 < section.size)
      state.binary.notes.push_back(fmt::format("{} of {} bytes of {} belong to no fat binary",
                                               section.size - covered, section.size, section.name));
  }
}

} // namespace

void attribute_elf(ScanState& state) {
  std::vector<ElfSection> sections = read_sections(state);
  SectionMap map(sections);
  References references = read_references(state, sections, map);
  for (Container& container : state.found) {
    uint64_t offset = container.offset - state.reader.base();
    if (const ElfSection* section = map.at(offset)) container.section = section->name;
    if (container.role != Role::bare) container.role = role_of(container, offset, references);
  }
  // A number in code that equals the magic and an entry header by chance, then breaks off.
  std::erase_if(state.found, [](const Container& container) {
    return container.images.empty() && !container.problem.empty() && !in_cuda_section(container);
  });
  note_sections(state, sections);
}

} // namespace gpuvet
