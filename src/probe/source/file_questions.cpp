#include "probe/source/file_questions.hpp"

#include "formats/gpu/inspect.hpp"
#include "formats/object/elf_dynamic.hpp"
#include "formats/object/elf_symbols.hpp"
#include "formats/object/kernel_module.hpp"
#include "os/file_entry.hpp"
#include "os/file_map.hpp"
#include "os/file_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

namespace gpuvet {
namespace {

EntryKind entry_kind(FileKind kind) {
  switch (kind) {
  case FileKind::regular:
    return EntryKind::regular;
  case FileKind::folder:
    return EntryKind::folder;
  case FileKind::link:
    return EntryKind::link;
  case FileKind::character:
    return EntryKind::character;
  case FileKind::block:
    return EntryKind::block;
  case FileKind::other:
    break;
  }
  return EntryKind::other;
}

template <class T> Result<T> shown_as(Result<T> result, const std::string& shown) {
  if (!result) return fail(result.error().what, shown);
  return result;
}

// Maps the file and gives its bytes to `read`.
template <class Read> auto on_map(const std::string& real, const std::string& shown,
                                  const Read& read) -> decltype(read(Bytes())) {
  auto status = file_status(real, Links::follow);
  if (!status) return fail(is_absence(status.error()) ? kMissing : status.error().what, shown);
  auto map = map_file(real);
  if (!map) return fail(map.error().what, shown);
  auto result = read(map->bytes());
  if (map->changed()) return fail("the file changed while it was read", shown);
  return result;
}

void add_targets(const Binary& binary, PackageCode& code) {
  std::set<Target> sass, ptx;
  for (const Container& container : binary.containers) {
    for (const Image& image : container.images) {
      if (image.kind == ImageKind::cubin) sass.insert(image.target);
      if (image.kind != ImageKind::ptx) continue;
      ptx.insert(image.target);
      const std::pair<uint32_t, uint32_t> isa = {image.version_major, image.version_minor};
      if (isa < std::pair(code.ptx_isa_major.value_or(0), code.ptx_isa_minor.value_or(0))) continue;
      code.ptx_isa_major = isa.first;
      code.ptx_isa_minor = isa.second;
    }
  }
  code.sass = known(std::vector<Target>(sass.begin(), sass.end()), binary.path);
  code.ptx = known(std::vector<Target>(ptx.begin(), ptx.end()), binary.path);
}

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

// Where `word` stands; the pages that were searched are let go of, since the file may be larger
// than the memory that a probe may take.
std::optional<size_t> find_word(Bytes file, std::string_view word) {
  constexpr size_t kPiece = size_t{16} << 20;
  for (size_t at = 0; at < file.size(); at += kPiece) {
    Bytes piece = file.clamp(at, kPiece + word.size() - 1);
    const void* found = memmem(piece.data(), piece.size(), word.data(), word.size());
    if (found) return static_cast<size_t>(static_cast<const uint8_t*>(found) - file.data());
    release_pages(file.clamp(at, kPiece));
  }
  return std::nullopt;
}

} // namespace

bool is_absence(const Error& error) {
  return error.what == std::strerror(ENOENT) || error.what == std::strerror(ENOTDIR);
}

Result<std::string> read_file_at(const std::string& real, const std::string& shown, size_t most) {
  return shown_as(read_whole_file(real, most), shown);
}

Result<Entry> entry_at(const std::string& real, const std::string& shown) {
  auto entry = file_entry(real);
  if (!entry) return fail(entry.error().what, shown);
  return Entry{.kind = entry_kind(entry->kind),
               .size = entry->size,
               .mode = entry->mode,
               .uid = entry->uid,
               .gid = entry->gid,
               .device = entry->device,
               .inode = entry->inode,
               .major = entry->major,
               .minor = entry->minor,
               .changed = entry->changed};
}

Result<ElfFacts> elf_at(const std::string& real, const std::string& shown) {
  return shown_as(on_map(real, shown, parse_elf_facts), shown);
}

Result<GpuSymbols> gpu_symbols_at(const std::string& real, const std::string& shown) {
  return shown_as(on_map(real, shown, parse_gpu_symbols), shown);
}

Result<ModuleInfo> module_info_at(const std::string& real, const std::string& shown) {
  return on_map(real, shown, [&](Bytes file) { return read_module_info(file, shown); });
}

Result<PackageCode> gpu_code_at(const std::string& real, const std::string& shown) {
  return on_map(real, shown, [&](Bytes file) -> Result<PackageCode> {
    MemoryStream stream(file);
    const Binary binary = inspect(stream, shown, {.sections_only = true});
    if (binary.containers.empty() && !binary.problems.empty())
      return fail(binary.problems.front(), shown);
    PackageCode code{.file = shown};
    add_targets(binary, code);
    return code;
  });
}

Result<std::string> text_after_at(const std::string& real, const std::string& shown,
                                  const std::string& word) {
  constexpr size_t kMost = 64; // bytes of text
  return on_map(real, shown, [&](Bytes file) -> Result<std::string> {
    auto found = word.empty() ? std::nullopt : find_word(file, word);
    if (!found) return fail("the file does not hold \"" + word + "\"", shown);
    std::string_view text = file.clamp(*found + word.size(), kMost).text();
    const auto* end = std::find_if_not(text.begin(), text.end(), is_printable);
    return std::string(text.begin(), end);
  });
}

} // namespace gpuvet
