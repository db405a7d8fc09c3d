#include "formats/gpu/cubin.hpp"

#include "formats/byte_stream.hpp"
#include "formats/object/elf.hpp"

#include <algorithm>
#include <unordered_set>

namespace gpuvet {
namespace {

constexpr std::string_view kKernelSection = ".nv.constant0.";
constexpr size_t kMaxKernels = 1u << 20; // of one cubin

std::optional<Version> toolkit_from_tens(uint32_t tens) { // 128 = CUDA 12.8
  if (tens < 20 || tens > 990) return std::nullopt;
  return Version{{tens / 10, tens % 10}};
}

// "-arch sm_100f -m 64": the target that ptxas was asked for.
char suffix_in_command_line(std::string_view text) {
  size_t at = text.find("sm_");
  if (at == std::string_view::npos) return 0;
  size_t end = text.find_first_not_of("0123456789", at + 3);
  if (end == std::string_view::npos) return 0;
  return text[end] == 'a' || text[end] == 'f' ? text[end] : 0;
}

// "Cuda compilation tools, release 13.0, V13.0.88"
std::optional<Version> toolkit_in_text(std::string_view text) {
  size_t at = text.find("release ");
  if (at == std::string_view::npos) return std::nullopt;
  return parse_version(text.substr(at + 8));
}

void read_tkinfo(CubinHeader& header, Bytes note) {
  // Note header (12 bytes), owner "NVIDIA Corp\0", then 6 words and the strings they point into.
  constexpr uint64_t words = 12 + 12, strings = words + 24;
  Bytes text = note.clamp(strings, note.size());
  auto version_at = note.read<uint32_t>(words + 12);
  auto command_at = note.read<uint32_t>(words + 20);
  if (version_at)
    if (auto version = text.c_string(*version_at))
      if (auto toolkit = toolkit_in_text(*version)) header.toolkit = toolkit;
  if (command_at && !header.target.suffix)
    if (auto command = text.c_string(*command_at))
      header.target.suffix = suffix_in_command_line(*command);
}

void read_compat(CubinHeader& header, Bytes records) {
  for (uint64_t at = 0; records.holds(at, 4);) {
    uint8_t format = records.data()[at], attribute = records.data()[at + 1];
    uint16_t value = *records.read<uint16_t>(at + 2);
    if (attribute == 9 && format != 4 && (value & 0xff) == 1) header.target.suffix = 'a';
    at += format == 4 ? 4 + uint64_t{value} : 4;
  }
}

// The section names of a cubin by ptxas stand at 0x40, then .strtab begins with a copy of them; the
// second ".shstrtab" therefore marks the end of the first list.
bool names_complete(const std::vector<uint8_t>& head, size_t& end) {
  constexpr std::string_view mark("\0.shstrtab\0", 11);
  Bytes bytes(head.data(), head.size());
  std::string_view text = bytes.text();
  if (text.size() < 0x60 || text.substr(0x40, mark.size()) != mark) {
    end = 0; // not this layout: give up at once
    return true;
  }
  size_t second = text.find(mark, 0x40 + mark.size() - 1);
  if (second == std::string_view::npos) return false;
  end = second;
  return true;
}

std::vector<std::string> kernels_in_names(std::string_view names) {
  std::vector<std::string> kernels;
  std::unordered_set<std::string_view> seen;
  for (size_t at = 0; at < names.size();) {
    size_t end = std::min(names.find('\0', at), names.size());
    std::string_view name = names.substr(at, end - at);
    if (name.starts_with(kKernelSection)) {
      name.remove_prefix(kKernelSection.size());
      if (!name.empty() && seen.insert(name).second) kernels.emplace_back(name);
    }
    at = end + 1;
  }
  return kernels;
}

// From the symbol table: functions that are defined here and marked as entry points.
Result<std::vector<std::string>> kernels_in_symbols(Bytes cubin) {
  auto header = parse_elf_header(cubin);
  if (!header) return tl::unexpected(header.error());
  auto sections = parse_sections(*header, cubin);
  if (!sections) return tl::unexpected(sections.error());
  std::vector<std::string> kernels;
  for (const ElfSection& table : *sections) {
    if (table.type != 2 || table.link >= sections->size()) continue; // SHT_SYMTAB
    const ElfSection& names = (*sections)[table.link];
    Bytes symbols = cubin.slice(table.offset, table.size).value_or(Bytes{});
    Bytes strings = cubin.slice(names.offset, names.size).value_or(Bytes{});
    size_t entry = header->is64 ? 24 : 16;
    for (size_t at = 0; symbols.holds(at, entry) && kernels.size() < kMaxKernels; at += entry) {
      uint8_t info = symbols.data()[at + (header->is64 ? 4 : 12)];
      uint8_t other = symbols.data()[at + (header->is64 ? 5 : 13)];
      auto section = symbols.read<uint16_t>(at + (header->is64 ? 6 : 14));
      if ((info & 15) != 2 || *section == 0 || !(other & 0x10)) continue;
      if (auto name = strings.c_string(*symbols.read<uint32_t>(at))) kernels.emplace_back(*name);
    }
  }
  return kernels;
}

} // namespace

std::optional<CubinHeader> parse_cubin_header(Bytes start) {
  auto elf = parse_elf_header(start);
  if (!elf || elf->machine != kMachineCuda) return std::nullopt;
  CubinHeader header;
  header.new_layout = elf->osabi == 0x41 || elf->abi_version >= 8;
  header.relocatable = elf->type == 1;
  header.extent = elf->table_end();
  if (header.new_layout) {
    header.target.sm = (elf->flags >> 8) & 0xff;
  } else {
    header.target.sm = elf->flags & 0xff;
    // Up to CUDA 9.1 Pascal cubins carry the same bit, with another meaning.
    if ((elf->flags & 0x800) && header.target.sm >= 90) header.target.suffix = 'a';
    header.toolkit = toolkit_from_tens(elf->version);
  }
  if (header.target.sm < 10) return std::nullopt;
  return header;
}

void complete_from_notes(CubinHeader& header, Bytes cubin) {
  auto elf = parse_elf_header(cubin);
  if (!elf) return;
  auto sections = parse_sections(*elf, cubin);
  if (!sections) return;
  auto bytes_of = [&](std::string_view name) {
    const ElfSection* section = find_section(*sections, name);
    return section && section->has_bytes()
               ? cubin.slice(section->offset, section->size).value_or(Bytes{})
               : Bytes{};
  };
  read_compat(header, bytes_of(".nv.compat"));
  read_tkinfo(header, bytes_of(".note.nv.tkinfo"));
}

Result<std::vector<std::string>> cubin_kernels(const Image& image,
                                               const std::function<Result<Bytes>(size_t)>& read) {
  std::vector<uint8_t> head;
  size_t end = 0;
  // Two rounds: a little of the payload usually suffices; a stream hands out at most one window.
  for (uint64_t stored : {uint64_t{256} << 10, image.stored_size}) {
    size_t want = static_cast<size_t>(
        std::min<uint64_t>({stored, image.stored_size, ByteStream::kMaxWindow}));
    auto payload = read(want);
    if (!payload) return tl::unexpected(payload.error());
    bool all = payload->size() >= image.stored_size;
    auto decoder = make_decoder(image.compression, *payload, image.raw_size);
    head.clear();
    for (size_t step = 4096;; step = std::min<size_t>(step * 2, 4u << 20)) {
      auto got = decoder->more(head, step);
      if (!got && all) return tl::unexpected(got.error());
      if (names_complete(head, end)) break;
      if (!got || *got == 0) break;
      if (head.size() > kMaxImageSize) return fail("a cubin of more than 1 GiB");
    }
    if (end > 0) return kernels_in_names(Bytes(head.data(), end).text());
    if (head.size() >= 0x60 && names_complete(head, end) && end == 0) break;
  }
  auto payload =
      read(static_cast<size_t>(std::min<uint64_t>(image.stored_size, ByteStream::kMaxWindow)));
  if (!payload) return tl::unexpected(payload.error());
  if (payload->size() < image.stored_size) return fail("a cubin of more than 64 MiB");
  auto whole = decompress(image.compression, *payload, image.raw_size);
  if (!whole) return tl::unexpected(whole.error());
  return kernels_in_symbols(Bytes(whole->data(), whole->size()));
}

std::vector<std::string> ptx_kernels(std::string_view text) {
  std::vector<std::string> kernels;
  constexpr std::string_view directive = ".entry";
  for (size_t at = 0; (at = text.find(directive, at)) != std::string_view::npos;) {
    at += directive.size();
    size_t begin = text.find_first_not_of(" \t\r\n", at);
    if (begin == std::string_view::npos || begin == at) continue;
    size_t end = text.find_first_of(" \t\r\n(,;{", begin);
    if (end == std::string_view::npos) break;
    kernels.emplace_back(text.substr(begin, end - begin));
    at = end;
    if (kernels.size() >= kMaxKernels) break;
  }
  return kernels;
}

} // namespace gpuvet
