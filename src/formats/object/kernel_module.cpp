#include "formats/object/kernel_module.hpp"

#include "formats/archive.hpp"
#include "formats/file_kind.hpp"
#include "formats/object/elf.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kMostStored = size_t{4} << 20, kMostUnpacked = size_t{64} << 20;
constexpr std::string_view kMagic = "~Module signature appended~\n";
constexpr size_t kDescription = 12; // struct module_signature

Result<std::string> unpacked(Bytes file, FileKind kind, const std::string& path) {
  if (file.size() > kMostStored) return fail("compressed, and too large to unpack for this", path);
  MemoryStream stored(file);
  Budget budget{kMostUnpacked};
  auto stream = decompress(stored, kind, path, budget);
  std::string content;
  for (constexpr size_t piece = size_t{1} << 20;;) {
    auto bytes = stream->window(content.size(), piece);
    if (!bytes) return tl::unexpected(bytes.error());
    content += bytes->text();
    if (bytes->size() < piece) return content;
    if (content.size() > kMostUnpacked)
      return fail("unpacks to more than a kernel module has", path);
  }
}

// The common name in the signature's PKCS #7 block. Signatures of sign-file hold no certificates,
// so the first common name (2.5.4.3) is that of the key's issuer, which names the signer.
std::string common_name(Bytes block) {
  constexpr std::string_view id("\x06\x03\x55\x04\x03", 5);
  size_t at = block.text().find(id);
  if (at == std::string_view::npos) return {};
  auto type = block.read<uint8_t>(at + id.size()), size = block.read<uint8_t>(at + id.size() + 1);
  bool is_text = type && (*type == 0x0c || *type == 0x13 || *type == 0x16);
  if (!is_text || !size || *size > 127) return {};
  auto name = block.slice(at + id.size() + 2, *size);
  if (!name) return {};
  std::string text;
  for (char c : name->text())
    if (static_cast<unsigned char>(c) >= ' ' && c != 0x7f) text += c;
  return text;
}

void read_signature(Bytes file, ModuleInfo& info) {
  info.is_signed = file.text().ends_with(kMagic);
  if (!*info.is_signed || file.size() < kMagic.size() + kDescription) return;
  size_t end = file.size() - kMagic.size() - kDescription;
  uint64_t size = 0; // big endian
  for (size_t i = 8; i < kDescription; ++i)
    size = size << 8 | file.data()[end + i];
  if (size > end) return;
  if (auto block = file.slice(end - size, size)) info.signer = common_name(*block);
}

void take(ModuleInfo& info, std::string_view entry) {
  size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return;
  std::string_view key = entry.substr(0, equals), value = entry.substr(equals + 1);
  if (key == "version") info.version = value;
  if (key == "license") info.license = value;
  if (key == "srcversion") info.srcversion = value;
  if (key == "vermagic") info.vermagic = value;
}

Result<ModuleInfo> read_plain(Bytes file, const std::string& path) {
  auto header = parse_elf_header(file);
  if (!header) return fail(header.error().what, path);
  auto sections = parse_sections(*header, file);
  if (!sections) return fail(sections.error().what, path);
  const ElfSection* section = find_section(*sections, ".modinfo");
  if (section == nullptr) return fail("not a kernel module: no section .modinfo", path);
  auto text = file.slice(section->offset, section->size);
  if (!text) return fail("the section .modinfo reaches behind the end of the file", path);
  ModuleInfo info;
  for (std::string_view rest = text->text(); !rest.empty();) {
    size_t end = std::min(rest.find('\0'), rest.size());
    take(info, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  read_signature(file, info);
  return info;
}

} // namespace

Result<ModuleInfo> read_module_info(Bytes file, const std::string& path) {
  FileKind kind = file_kind(path, file.clamp(0, kKindBytes));
  if (!is_compressed(kind)) return read_plain(file, path);
  auto content = unpacked(file, kind, path);
  if (!content) return tl::unexpected(content.error());
  return read_plain(std::string_view(*content), path);
}

} // namespace gpuvet
