#include "os/folder_links.hpp"

#include "os/file_entry.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <unistd.h>

namespace gpuvet {

Result<std::vector<std::string>> link_targets(const std::string& folder, std::string_view prefix,
                                              size_t most) {
  std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (!entries)
    return fail(errno == ENOENT || errno == ENOTDIR ? kNoSuchFile : std::strerror(errno), folder);
  const int fd = dirfd(entries.get());
  std::vector<std::string> targets;
  std::array<char, 4096> target{};
  for (size_t count = 0; count < most; ++count) {
    const dirent* entry = readdir(entries.get());
    if (!entry) break;
    ssize_t length = readlinkat(fd, entry->d_name, target.data(), target.size());
    if (length <= 0) continue;
    std::string_view text(target.data(), static_cast<size_t>(length));
    if (text.starts_with(prefix)) targets.emplace_back(text);
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

} // namespace gpuvet
