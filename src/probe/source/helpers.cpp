#include "os/file_entry.hpp"
#include "probe/source.hpp"
#include "probe/source/paths.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kSmallFile = size_t{4} << 20;
constexpr size_t kOneLine = size_t{64} << 10;

void drop_blanks_at_end(std::string& text) {
  size_t last = text.find_last_not_of(" \t\r\n");
  text.resize(last == std::string::npos ? 0 : last + 1);
}

} // namespace

const std::string kMissing = kNoSuchFile;

bool is_missing(const Error& error) {
  return error.what == kMissing;
}

bool exists(const Source& source, const std::string& path) {
  auto entry = source.entry(path);
  if (!entry) return false;
  if (entry->kind != EntryKind::link) return true;
  auto target = source.real_path(path);
  return target && source.entry(*target).has_value();
}

bool is_folder(const Source& source, const std::string& path) {
  auto entry = source.entry(path);
  if (entry && entry->kind == EntryKind::link)
    if (auto target = source.real_path(path)) entry = source.entry(*target);
  return entry && entry->kind == EntryKind::folder;
}

std::string first_line(const Source& source, const std::string& path) {
  auto text = source.read_file(path, kOneLine);
  if (!text) return {};
  text->resize(std::min(text->find('\n'), text->size()));
  drop_blanks_at_end(*text);
  return *text;
}

std::vector<std::string> lines(const Source& source, const std::string& path) {
  std::vector<std::string> all;
  auto text = source.read_file(path, kSmallFile);
  if (!text) return all;
  for (size_t at = 0; at < text->size();) {
    size_t end = std::min(text->find('\n', at), text->size());
    size_t length = end - at;
    if (length > 0 && (*text)[end - 1] == '\r') --length; // files edited on Windows
    all.push_back(text->substr(at, length));
    at = end + 1;
  }
  return all;
}

std::vector<std::string> matching(const Source& source, const std::string& folder,
                                  const std::string& pattern) {
  std::vector<std::string> paths;
  auto names = source.list(folder);
  if (!names) return paths;
  for (const std::string& name : *names)
    if (matches_pattern(name, pattern))
      paths.push_back(folder.ends_with('/') ? folder + name : folder + "/" + name);
  return paths;
}

} // namespace gpuvet
