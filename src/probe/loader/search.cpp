#include "probe/loader/search.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace gpuvet {
namespace {

const char* const kCachePath = "/etc/ld.so.cache";

// Length of `word` at the start of `text` as a token, in braces or not; 0: something else.
size_t token_length(std::string_view text, std::string_view word) {
  bool braces = text.starts_with('{');
  if (braces) text.remove_prefix(1);
  if (!text.starts_with(word)) return 0;
  char next = text.size() > word.size() ? text[word.size()] : '\0';
  if (braces) return next == '}' ? word.size() + 2 : 0;
  return std::isalnum(static_cast<unsigned char>(next)) || next == '_' ? 0 : word.size();
}

// With one slash at its end less, so that folder + "/" + name is a path. An empty folder is the
// current one.
std::string in_folder(const std::string& folder, const std::string& name) {
  if (folder.empty()) return name;
  size_t end = folder.find_last_not_of('/');
  return end == std::string::npos ? "/" + name : folder.substr(0, end + 1) + "/" + name;
}

std::vector<std::string> split_any(std::string_view text, const char* separators) {
  std::vector<std::string> parts;
  for (;;) {
    size_t end = text.find_first_of(separators);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string machine_name(uint8_t bits, uint16_t machine) {
  switch (machine) {
  case 62:
    return bits == 64 ? "x86-64" : "x32";
  case 3:
    return "i386";
  case 183:
    return "AArch64";
  case 21:
    return "PowerPC 64";
  case 190:
    return "a GPU";
  default:
    return fmt::format("machine {}", machine);
  }
}

std::string unfit(const ElfFacts& elf, const Platform& platform) {
  if (elf.bits != platform.bits)
    return fmt::format("a {}-bit library, and the program has {} bits", elf.bits, platform.bits);
  if (elf.machine != platform.machine)
    return fmt::format("for {}, and the program is for {}", machine_name(elf.bits, elf.machine),
                       machine_name(platform.bits, platform.machine));
  return {};
}

// Errors of Source::elf after which the loader stops and does not look further.
bool is_no_library(const Error& error) {
  constexpr std::array<std::string_view, 4> starts = {"not an ELF file", "an ELF file of a class",
                                                      "the ELF header", "this is a folder"};
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return error.what.starts_with(start); });
}

const std::string kNoFile = "no such file";

} // namespace

std::string folder_of_path(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string expand_tokens(const std::string& text, const std::string& origin,
                          const LoaderSetup& setup) {
  const std::array<std::pair<std::string_view, const std::string*>, 3> tokens = {
      {{"ORIGIN", &origin}, {"PLATFORM", &setup.processor}, {"LIB", &setup.lib}}};
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      out += text[at++];
      continue;
    }
    ++at;
    size_t length = 0;
    for (const auto& [word, value] : tokens) {
      length = token_length(std::string_view(text).substr(at), word);
      if (length == 0) continue;
      if (value->empty()) return {};
      out += *value;
      break;
    }
    if (length == 0) out += '$';
    at += length;
  }
  return out;
}

const LibrarySearch::File& LibrarySearch::look_at(const std::string& path) {
  auto known_file = files_.find(path);
  if (known_file != files_.end()) return known_file->second;
  File file;
  auto real = source_.real_path(path);
  auto entry = real ? source_.entry(*real) : Result<Entry>(tl::unexpected(real.error()));
  if (!entry) {
    file.missing = is_missing(entry.error());
    file.why_not = file.missing ? kNoFile : entry.error().what;
    if (auto link = source_.entry(path); file.missing && link && link->kind == EntryKind::link)
      file.why_not = "a link that leads nowhere";
    return files_[path] = std::move(file);
  }
  file.real_path = *real;
  file.device = entry->device;
  file.inode = entry->inode;
  if (entry->kind != EntryKind::regular) {
    file.why_not = "not a file; the loader gives up here";
    file.ends_all = true;
    return files_[path] = std::move(file);
  }
  if (auto elf = source_.elf(*real)) {
    file.why_not = unfit(*elf, setup_.platform);
    file.elf = known(std::move(*elf), *real);
  } else if (is_no_library(elf.error())) {
    file.why_not = elf.error().what + "; the loader gives up here";
    file.ends_all = true;
  } else if (elf.error().what.find("ermission denied") != std::string::npos) {
    file.why_not = "it cannot be read (permission denied)";
  } else {
    file.elf = unknown<ElfFacts>(elf.error().what);
  }
  return files_[path] = std::move(file);
}

const std::vector<std::string>& LibrarySearch::hwcaps() {
  if (hwcaps_) return *hwcaps_;
  auto folders = hwcaps_folders(source_, setup_);
  if (!folders)
    notes_.insert("which glibc-hwcaps folders this processor can use is not known (" +
                  folders.why_unknown + "); they are not searched");
  hwcaps_ = folders ? *folders : std::vector<std::string>();
  return *hwcaps_;
}

const LibrarySearch::Folder& LibrarySearch::folder_at(const std::string& path) {
  auto known_folder = folders_.find(path);
  if (known_folder != folders_.end()) return known_folder->second;
  Folder folder;
  folder.exists = path.empty() || is_folder(source_, path);
  bool may_have = false;
  for (const char* name : {"glibc-hwcaps", "tls", "haswell", "x86_64", "avx512_1", "xeon_phi"})
    may_have = may_have || (folder.exists && is_folder(source_, in_folder(path, name)));
  if (may_have)
    for (const std::string& name : hwcaps())
      if (is_folder(source_, in_folder(path, name))) folder.subfolders.push_back(name);
  return folders_[path] = std::move(folder);
}

void LibrarySearch::add_places(const std::string& folder, const std::string& name, FoundBy rule,
                               const std::string& by, std::vector<Place>& places) {
  const Folder& known_folder = folder_at(folder);
  for (const std::string& sub : known_folder.subfolders)
    places.push_back(
        {rule, in_folder(in_folder(folder, sub), name), by + ", for this processor", false});
  places.push_back({rule, in_folder(folder, name), by, !known_folder.exists});
}

void LibrarySearch::add_run_path(const std::string& name, FoundBy rule, const RunPaths& object,
                                 std::vector<Place>& places) {
  const auto& folders = rule == FoundBy::rpath ? object.rpath : object.runpath;
  if (folders.size() == 1 && folders[0].empty()) return; // set, but to nothing
  std::set<std::string> seen;
  for (const std::string& text : folders) {
    std::string folder = expand_tokens(text, object.origin, setup_);
    if ((folder.empty() && !text.empty()) || !seen.insert(folder).second) continue;
    add_places(folder, name, rule,
               fmt::format("{} {} of {}", rule == FoundBy::rpath ? "rpath" : "runpath",
                           text.empty() ? "\"\" (the current folder)" : text, object.path),
               places);
  }
}

void LibrarySearch::add_rpaths(const std::string& name, const AskedBy& asked_by,
                               std::vector<Place>& places) {
  if (asked_by.empty()) return;
  const RunPaths& asking = *asked_by.front();
  std::vector<Place> rpaths;
  for (const RunPaths* object : asked_by)
    if (asking.has_runpath || !object->has_runpath)
      add_run_path(name, FoundBy::rpath, *object, rpaths);
  if (asking.has_runpath && !rpaths.empty()) {
    places.push_back({FoundBy::rpath, "", "rpath is skipped: " + asking.path + " has a runpath"});
    for (Place& place : rpaths) {
      place.never = "skipped, as " + asking.path + " has a runpath";
      if (!place.no_folder && look_at(place.path).why_not.empty()) places.push_back(place);
    }
    return;
  }
  for (Place& place : rpaths)
    places.push_back(std::move(place));
}

void LibrarySearch::add_library_path(const std::string& name, const AskedBy& asked_by,
                                     std::vector<Place>& places) {
  if (setup_.library_path.empty()) return;
  std::string origin = asked_by.empty() ? "" : asked_by.back()->origin;
  std::set<std::string> seen;
  for (const std::string& text : split_any(setup_.library_path, ":;")) {
    std::string folder = expand_tokens(text, origin, setup_);
    if ((folder.empty() && !text.empty()) || !seen.insert(folder).second) continue;
    add_places(folder, name, FoundBy::ld_library_path,
               text.empty() ? "LD_LIBRARY_PATH \"\" (the current folder)"
                            : "LD_LIBRARY_PATH " + text,
               places);
  }
}

void LibrarySearch::add_cache(const std::string& name, bool nodeflib, std::vector<Place>& places) {
  if (setup_.search_conf_folders) {
    for (const LoaderState::Folder& folder : setup_.conf_folders)
      add_places(folder.path, name, FoundBy::cache, folder.file, places);
    return;
  }
  if (!setup_.cache) {
    places.push_back(
        {FoundBy::cache, "", std::string(kCachePath) + ": " + setup_.cache.why_unknown});
    return;
  }
  uint32_t flags = cache_flags(setup_.platform.bits, setup_.platform.machine);
  bool for_processors = std::any_of(
      setup_.cache->entries.begin(), setup_.cache->entries.end(), [&](const LdCacheEntry& entry) {
        return !entry.hwcaps.empty() && same_cache_name(entry.soname, name);
      });
  std::vector<std::string> usable;
  if (for_processors)
    for (const std::string& folder : hwcaps())
      if (folder.starts_with("glibc-hwcaps/")) usable.push_back(folder.substr(13));
  auto in_default_folder = [&](const std::string& path) {
    return std::any_of(setup_.default_folders.begin(), setup_.default_folders.end(),
                       [&](const std::string& folder) { return path.starts_with(folder + "/"); });
  };
  bool first = true;
  for (const LdCacheEntry* entry : find_in_cache(*setup_.cache, name, flags, usable)) {
    if (first && nodeflib && in_default_folder(entry->path))
      places.push_back({FoundBy::cache, "",
                        std::string(kCachePath) + ": " + entry->path +
                            " is skipped, as the file is marked NODEFLIB"});
    else
      places.push_back({FoundBy::cache, entry->path, kCachePath, false,
                        first ? "" : "the loader takes the cache's first entry only"});
    first = false;
  }
  if (first) places.push_back({FoundBy::cache, "", std::string(kCachePath) + " has no such name"});
}

std::vector<LibrarySearch::Place> LibrarySearch::places_for(const std::string& name,
                                                            const AskedBy& asked_by) {
  std::vector<Place> places;
  if (name.find('/') != std::string::npos) {
    std::string path =
        asked_by.empty() ? name : expand_tokens(name, asked_by.front()->origin, setup_);
    places.push_back({FoundBy::path, path, "the name is a path"});
    return places;
  }
  bool nodeflib = !asked_by.empty() && asked_by.front()->nodeflib;
  add_rpaths(name, asked_by, places);
  add_library_path(name, asked_by, places);
  if (!asked_by.empty()) add_run_path(name, FoundBy::runpath, *asked_by.front(), places);
  add_cache(name, nodeflib, places);
  if (nodeflib) {
    places.push_back(
        {FoundBy::default_folder, "",
         "default folders are skipped: " + asked_by.front()->path + " is marked NODEFLIB"});
    return places;
  }
  for (const std::string& folder : setup_.default_folders)
    add_places(folder, name, FoundBy::default_folder, "default folder " + folder, places);
  return places;
}

LoadEdge LibrarySearch::find(const std::string& name, const AskedBy& asked_by) {
  LoadEdge edge;
  edge.name = name;
  bool gave_up = false;
  std::set<std::string> taken; // real paths: the same file under two names shadows nothing
  for (const Place& place : places_for(name, asked_by)) {
    if (place.path.empty() || place.no_folder) {
      edge.tried.push_back(
          {place.path, place.rule, place.path.empty() ? place.by : "no such folder"});
      continue;
    }
    const File& file = look_at(place.path);
    bool serves = file.why_not.empty();
    if (serves && edge.path.empty() && !gave_up && place.never.empty()) {
      edge.rule = place.rule;
      edge.by = place.by;
      edge.path = place.path;
      edge.real_path = file.real_path;
      taken.insert(file.real_path);
      edge.tried.push_back({place.path, place.rule, ""});
    } else if (!serves) {
      edge.tried.push_back({place.path, place.rule, file.why_not});
      if (file.ends_all && edge.path.empty()) gave_up = true;
    } else if (taken.insert(file.real_path).second || !place.never.empty()) {
      std::string why = gave_up ? "the loader has given up before" : place.never;
      if (!edge.path.empty()) why = "shadowed";
      edge.tried.push_back({place.path, place.rule, std::move(why)});
    }
  }
  return edge;
}

} // namespace gpuvet
