#include "probe/loader/ld_conf.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace gpuvet {
namespace {

constexpr const char* kConf = "/etc/ld.so.conf";
constexpr size_t kMostFiles = 1000, kDeepest = 16, kMostFolders = 10'000;
constexpr std::string_view kBlanks = " \t";

struct OpenFile {
  std::string path;
  std::vector<std::string> lines;
  size_t next = 0;                   // line to read, from 0
  std::vector<std::string> included; // of the line before, the first file last
  std::optional<int64_t> changed;
};

// Without a comment.
std::string_view setting(std::string_view line) {
  return trimmed(line.substr(0, line.find('#')));
}

// Files that a pattern names, as glob(3) would: each part of the path may hold wildcards.
std::vector<std::string> expand(const Source& source, const std::string& pattern) {
  std::vector<std::string> found = {""};
  for (size_t at = 1; at <= pattern.size() && !found.empty();) {
    size_t end = std::min(pattern.find('/', at), pattern.size());
    std::string part = pattern.substr(at, end - at);
    at = end + 1;
    std::vector<std::string> longer;
    for (const std::string& folder : found) {
      if (part.find_first_of("*?[") == std::string::npos) {
        longer.push_back(folder + "/" + part);
        continue;
      }
      for (std::string& path : matching(source, folder.empty() ? "/" : folder, part)) {
        bool hidden = path[path.rfind('/') + 1] == '.' && part.front() != '.';
        if (!hidden && longer.size() < kMostFiles) longer.push_back(std::move(path));
      }
    }
    found = std::move(longer);
  }
  return found;
}

struct Reader {
  const Source& source;
  std::vector<std::string>& notes;
  std::vector<OpenFile> open; // the innermost is last
  size_t files = 0;

  void enter(const std::string& path) {
    bool known = std::any_of(open.begin(), open.end(),
                             [&](const OpenFile& file) { return file.path == path; });
    if (known || open.size() >= kDeepest || files >= kMostFiles) {
      notes.push_back(path + " is not read: it includes itself, or there are too many files");
      return;
    }
    auto text = source.read_file(path, size_t{1} << 20);
    if (!text) {
      if (!is_missing(text.error())) notes.push_back(path + ": " + text.error().what);
      return;
    }
    ++files;
    OpenFile file{path, lines(source, path), 0, {}, std::nullopt};
    if (auto real = source.real_path(path))
      if (auto entry = source.entry(*real)) file.changed = entry->changed;
    open.push_back(std::move(file));
  }
};

bool takes(std::string_view line, std::string_view word, std::string_view& rest) {
  if (line.size() <= word.size() || !line.starts_with(word) ||
      kBlanks.find(line[word.size()]) == std::string_view::npos)
    return false;
  rest = line.substr(word.size());
  return true;
}

LoaderState::Folder folder_of(const Source& source, std::string_view line, const OpenFile& file) {
  // "folder=libc5" was a kind of library once.
  std::string path(line.substr(0, line.find('=')));
  while (path.size() > 1 && (path.back() == '/' || path.back() == ' '))
    path.pop_back();
  LoaderState::Folder folder{path, fmt::format("{}:{}", file.path, file.next), false, file.changed,
                             std::nullopt};
  if (auto real = source.real_path(path))
    if (auto entry = source.entry(*real); entry && entry->kind == EntryKind::folder) {
      folder.exists = true;
      folder.changed = entry->changed;
    }
  return folder;
}

} // namespace

std::vector<LoaderState::Folder> read_ld_conf(const Source& source,
                                              std::vector<std::string>& notes) {
  std::vector<LoaderState::Folder> folders;
  Reader reader{source, notes, {}, 0};
  reader.enter(kConf);
  while (!reader.open.empty()) {
    OpenFile& file = reader.open.back();
    if (!file.included.empty()) {
      std::string path = std::move(file.included.back());
      file.included.pop_back();
      reader.enter(path);
      continue;
    }
    if (file.next >= file.lines.size()) {
      reader.open.pop_back();
      continue;
    }
    std::string_view line = setting(file.lines[file.next++]), rest;
    if (line.empty() || takes(line, "hwcap", rest)) continue;
    if (!takes(line, "include", rest)) {
      if (folders.size() < kMostFolders) folders.push_back(folder_of(source, line, file));
      continue;
    }
    for (const std::string& pattern : words_of(rest))
      for (std::string& path :
           expand(source, pattern.starts_with('/') ? pattern : "/etc/" + pattern))
        file.included.push_back(std::move(path));
    std::reverse(file.included.begin(), file.included.end());
  }
  return folders;
}

} // namespace gpuvet
