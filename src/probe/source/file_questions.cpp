#include "probe/source/file_questions.hpp"

#include "formats/object/kernel_module.hpp"
#include "os/file_entry.hpp"
#include "os/file_map.hpp"

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

} // namespace

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

Result<ElfFacts> elf_at(const std::string&, const std::string& shown) {
  return fail("reading the dynamic section is not available yet", shown);
}

Result<PackageCode> gpu_code_at(const std::string&, const std::string& shown) {
  return fail("reading GPU code is not available yet", shown);
}

Result<ModuleInfo> module_info_at(const std::string& real, const std::string& shown) {
  auto map = map_file(real);
  if (!map) return fail(map.error().what, shown);
  auto info = read_module_info(map->bytes(), shown);
  if (map->changed()) return fail("the file changed while it was read", shown);
  return info;
}

Result<std::string> text_after_at(const std::string&, const std::string& shown,
                                  const std::string&) {
  return fail("searching a file is not available yet", shown);
}

} // namespace gpuvet
