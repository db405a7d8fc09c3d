#include "probe/source/file_questions.hpp"

#include "formats/gpu/inspect.hpp"
#include "formats/gpu/targets.hpp"
#include "formats/object/elf_dynamic.hpp"
#include "formats/object/elf_symbols.hpp"
#include "formats/object/kernel_module.hpp"
#include "formats/object/text_parts.hpp"
#include "os/file_entry.hpp"
#include "os/file_map.hpp"
#include "os/file_tree.hpp"
#include "probe/source/file_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gpuvet {
namespace {

EntryKind entry_kind(EntryType kind) {
  switch (kind) {
  case EntryType::regular:
    return EntryKind::regular;
  case EntryType::folder:
    return EntryKind::folder;
  case EntryType::link:
    return EntryKind::link;
  case EntryType::character:
    return EntryKind::character;
  case EntryType::block:
    return EntryKind::block;
  case EntryType::other:
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

void keep(GpuTargets targets, const std::string& from, PackageCode& code) {
  if (targets.ptx_isa) {
    code.ptx_isa_major = targets.ptx_isa->first;
    code.ptx_isa_minor = targets.ptx_isa->second;
  }
  code.sass = known(std::vector<Target>(targets.sass.begin(), targets.sass.end()), from);
  code.ptx = known(std::vector<Target>(targets.ptx.begin(), targets.ptx.end()), from);
}

// By the headers alone; nullopt: the file is no ordinary library, or was written to meanwhile.
std::optional<GpuTargets> targets_by_headers(const std::string& real) {
  auto file = open_for_reads(real);
  if (!file) return std::nullopt;
  FileStream stream(*file);
  auto targets = walk_targets(stream);
  if (!targets || file->changed()) return std::nullopt;
  return targets;
}

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

// Where `word` stands in a part; the pages that were searched are let go of, since the file may be
// larger than the memory that a probe may take.
std::optional<uint64_t> find_word(Bytes file, const FilePart& part, std::string_view word) {
  constexpr size_t kPiece = size_t{16} << 20;
  const uint64_t end = part.offset + part.size;
  for (uint64_t at = part.offset; at < end; at += kPiece) {
    Bytes piece = file.clamp(at, std::min(kPiece + word.size() - 1, end - at));
    const void* found = memmem(piece.data(), piece.size(), word.data(), word.size());
    if (found) return static_cast<uint64_t>(static_cast<const uint8_t*>(found) - file.data());
    release_pages(file.clamp(at, kPiece));
  }
  return std::nullopt;
}

std::optional<uint64_t> find_word(Bytes file, std::string_view word) {
  for (const FilePart& part : parts_with_text(file))
    if (auto found = find_word(file, part, word)) return found;
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
  PackageCode code{.file = shown};
  if (auto targets = targets_by_headers(real)) {
    keep(std::move(*targets), shown, code);
    return code;
  }
  return on_map(real, shown, [&](Bytes file) -> Result<PackageCode> {
    MemoryStream stream(file);
    const Binary binary = inspect(stream, shown, {.sections_only = true});
    if (binary.containers.empty() && !binary.problems.empty())
      return fail(binary.problems.front(), shown);
    GpuTargets targets;
    for (const Container& container : binary.containers)
      for (const Image& image : container.images)
        targets.add(image);
    keep(std::move(targets), shown, code);
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
