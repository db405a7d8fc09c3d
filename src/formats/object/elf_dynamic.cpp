#include "formats/object/elf_dynamic.hpp"

#include "formats/object/elf.hpp"
#include "formats/object/elf_symbols.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gpuvet {
namespace {

constexpr uint32_t kDynamic = 2, kInterpreter = 3; // p_type
constexpr uint64_t kNodeflib = 0x800;              // DF_1_NODEFLIB
constexpr uint16_t kWeakVersion = 2;               // VER_FLG_WEAK: may be missing
constexpr uint64_t kMaxEntries = 65536;            // of any table here
constexpr size_t kLongestText = 65536;             // a run path of wheels has a few thousand
constexpr size_t kMostText = size_t{8} << 20;      // all names together
constexpr uint64_t kMostNote = 65536;

namespace tag { // d_tag
constexpr uint64_t needed = 1, string_table = 5, string_size = 10, soname = 14, rpath = 15,
                   runpath = 29, version_definitions = 0x6ffffffc,
                   version_definition_count = 0x6ffffffd, version_needs = 0x6ffffffe,
                   version_need_count = 0x6fffffff, flags_1 = 0x6ffffffb, auxiliary = 0x7ffffffd,
                   filter = 0x7fffffff;
} // namespace tag

struct DynamicEntry {
  uint64_t tag = 0, value = 0;
};

std::vector<DynamicEntry> dynamic_entries(Bytes table, bool is64) {
  std::vector<DynamicEntry> entries;
  uint64_t width = is64 ? 8 : 4;
  auto word = [&](uint64_t at) -> uint64_t {
    if (is64) return table.read<uint64_t>(at).value_or(0);
    return table.read<uint32_t>(at).value_or(0);
  };
  for (uint64_t at = 0; table.holds(at, 2 * width) && entries.size() < kMaxEntries;
       at += 2 * width) {
    DynamicEntry entry{word(at), word(at + width)};
    if (entry.tag == 0) break; // DT_NULL
    entries.push_back(entry);
  }
  return entries;
}

std::optional<uint64_t> value_of(const std::vector<DynamicEntry>& entries, uint64_t tag) {
  for (const DynamicEntry& entry : entries)
    if (entry.tag == tag) return entry.value;
  return std::nullopt;
}

std::vector<std::string> split_path(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    size_t colon = text.find(':');
    parts.emplace_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

// The string table, with a limit on how much text one file may make us keep.
struct Names {
  Bytes table;
  size_t left = kMostText;

  std::optional<std::string> at(uint64_t offset) {
    auto text = table.c_string(offset);
    if (!text || text->size() > kLongestText || text->size() > left) return std::nullopt;
    left -= text->size();
    return std::string(*text);
  }
};

// Verneed records, each with a chain of Vernaux: the same layout in both classes.
void read_version_needs(Bytes table, uint64_t count, Names& names, ElfFacts& facts) {
  uint64_t at = 0, budget = kMaxEntries;
  for (uint64_t i = 0; i < count && table.holds(at, 16) && budget > 0; ++i) {
    uint16_t versions = *table.read<uint16_t>(at + 2);
    auto file = names.at(*table.read<uint32_t>(at + 4));
    uint64_t one = at + *table.read<uint32_t>(at + 8);
    for (uint16_t k = 0; file && k < versions && table.holds(one, 16) && budget > 0; ++k) {
      --budget;
      auto name = names.at(*table.read<uint32_t>(one + 8));
      bool weak = (*table.read<uint16_t>(one + 4) & kWeakVersion) != 0;
      if (name && !weak) facts.version_needs.push_back({*file, std::move(*name)});
      uint32_t next = *table.read<uint32_t>(one + 12);
      if (next == 0) break;
      one += next;
    }
    uint32_t next = *table.read<uint32_t>(at + 12);
    if (next == 0) break;
    at += next;
    --budget;
  }
}

// Verdef records; the first Verdaux of each names it.
void read_version_definitions(Bytes table, uint64_t count, Names& names, ElfFacts& facts) {
  uint64_t at = 0;
  for (uint64_t i = 0; i < count && i < kMaxEntries && table.holds(at, 20); ++i) {
    uint64_t first = at + *table.read<uint32_t>(at + 12);
    if (auto offset = table.read<uint32_t>(first))
      if (auto name = names.at(*offset)) facts.version_defs.push_back(std::move(*name));
    uint32_t next = *table.read<uint32_t>(at + 16);
    if (next == 0) break;
    at += next;
  }
}

// The JSON that says which kernel modules a forward-compatible libcuda works with; the note's name
// is "NVIDIA Corporation". Source: NVIDIA/nvidia-container-toolkit
// cmd/nvidia-cdi-hook/cudacompat/cuda-elf-header.go.
std::string compatibility_note(const ElfHeader& header, Bytes file) {
  auto sections = parse_sections(header, file);
  if (!sections) return {};
  const ElfSection* section = find_section(*sections, ".note.cuda.fwd_compatibility");
  if (section == nullptr || !section->has_bytes() || section->size > kMostNote) return {};
  auto bytes = file.slice(section->offset, section->size);
  if (!bytes) return {};
  std::string_view text = bytes->text();
  size_t from = text.find('{'), to = text.rfind('}');
  if (from == std::string_view::npos || to == std::string_view::npos || to < from) return {};
  return std::string(text.substr(from, to + 1 - from));
}

// Tags whose value is a name; false: a name that is cut off or too long.
bool take_name(const DynamicEntry& entry, Names& names, ElfFacts& facts) {
  constexpr std::array named = {tag::needed,  tag::soname,    tag::rpath,
                                tag::runpath, tag::auxiliary, tag::filter};
  bool is_name = false;
  for (uint64_t one : named)
    is_name |= one == entry.tag;
  if (!is_name) return true;
  auto name = names.at(entry.value);
  if (!name) return false;
  if (entry.tag == tag::needed) facts.needed.push_back(std::move(*name));
  if (entry.tag == tag::soname) facts.soname = std::move(*name);
  if (entry.tag == tag::rpath) facts.rpath = split_path(*name);
  if (entry.tag == tag::runpath) facts.runpath = split_path(*name);
  if (entry.tag == tag::auxiliary || entry.tag == tag::filter)
    facts.filters.push_back(std::move(*name));
  return true;
}

Result<bool> read_dynamic(Bytes file, const std::vector<ElfSegment>& segments, Bytes table,
                          ElfFacts& facts) {
  std::vector<DynamicEntry> entries = dynamic_entries(table, facts.bits == 64);
  auto at_address = [&](uint64_t tag) -> std::optional<Bytes> {
    auto address = value_of(entries, tag);
    auto offset = address ? file_offset(segments, *address) : std::nullopt;
    if (!offset || *offset >= file.size()) return std::nullopt;
    return file.clamp(*offset, file.size());
  };
  auto strings = at_address(tag::string_table);
  if (!strings) return fail("the dynamic section's names lie outside the file");
  Names names{strings->clamp(0, value_of(entries, tag::string_size).value_or(strings->size()))};
  for (const DynamicEntry& entry : entries)
    if (!take_name(entry, names, facts))
      return fail("the dynamic section names something outside its string table");
  if (auto flags = value_of(entries, tag::flags_1)) facts.nodeflib = (*flags & kNodeflib) != 0;
  if (auto needs = at_address(tag::version_needs))
    read_version_needs(*needs, value_of(entries, tag::version_need_count).value_or(0), names,
                       facts);
  if (auto defined = at_address(tag::version_definitions))
    read_version_definitions(*defined, value_of(entries, tag::version_definition_count).value_or(0),
                             names, facts);
  return true;
}

} // namespace

Result<ElfFacts> parse_elf_facts(Bytes file) {
  auto header = parse_elf_header(file);
  if (!header) return tl::unexpected(header.error());
  ElfFacts facts;
  facts.bits = header->is64 ? 64 : 32;
  facts.machine = header->machine;
  facts.shared = header->type == 3;
  facts.size = file.size();
  std::vector<ElfSegment> segments = parse_segments(*header, file);
  for (const ElfSegment& segment : segments) {
    if (segment.type == kInterpreter) {
      Bytes text = file.clamp(segment.offset, segment.file_size);
      if (auto path = text.c_string(0); path && path->size() <= kLongestText)
        facts.interpreter = *path;
    }
    if (segment.type != kDynamic || facts.has_dynamic || segment.file_size == 0) continue;
    facts.has_dynamic = true;
    Bytes table = file.clamp(segment.offset, segment.file_size);
    if (auto read = read_dynamic(file, segments, table, facts); !read)
      return tl::unexpected(read.error());
  }
  const bool of_runtime =
      std::any_of(facts.needed.begin(), facts.needed.end(),
                  [](const std::string& name) { return name.starts_with("libcudart.so"); });
  if (of_runtime)
    if (auto found = imports(file, "cudaGetDriverEntryPoint")) facts.unversioned_entry = *found;
  if (facts.soname.starts_with("libcuda.so"))
    facts.forward_compatibility = compatibility_note(*header, file);
  return facts;
}

} // namespace gpuvet
