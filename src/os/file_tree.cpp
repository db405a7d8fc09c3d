#include "os/file_tree.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

namespace gpuvet {
namespace {

tl::unexpected<Error> system_error(const std::string& path) {
  return fail(std::strerror(errno), path);
}

FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return FileType::regular;
  if (S_ISDIR(mode)) return FileType::folder;
  if (S_ISLNK(mode)) return FileType::link;
  return FileType::special;
}

// Reads up to n bytes; also from kernel tables, which return a few pages at a time.
Result<std::string> read_up_to(const std::string& path, size_t n) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return system_error(path);
  std::string text;
  char piece[16384];
  int error = 0;
  while (text.size() < n) {
    ssize_t got = read(fd, piece, std::min(sizeof piece, n - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = errno;
    if (got <= 0) break;
    text.append(piece, static_cast<size_t>(got));
  }
  close(fd);
  if (error) return fail(std::strerror(error), path);
  return text;
}

} // namespace

Result<FileStatus> file_status(const std::string& path, Links links) {
  struct stat status {};
  int rc = links == Links::follow ? stat(path.c_str(), &status) : lstat(path.c_str(), &status);
  if (rc != 0) return system_error(path);
  return FileStatus{.type = type_of(status.st_mode),
                    .size = status.st_size > 0 ? static_cast<uint64_t>(status.st_size) : 0,
                    .device = status.st_dev,
                    .inode = status.st_ino};
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
  std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (!folder) return system_error(path);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(folder.get());
    if (!entry) break;
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno) return system_error(path);
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

// Links of the kernel's own lead to places that have another name, or none.
bool has_magic_links(const std::string& path) {
  return !path.starts_with('/') || path.starts_with("/proc/") || path.starts_with("/dev/");
}

// What the kernel calls an open file; nullopt: it can't be told so, or not surely.
std::optional<std::string> name_of_open(int fd) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length =
      readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target.data(), target.size());
  if (length <= 0 || static_cast<size_t>(length) >= target.size()) return std::nullopt;
  std::string_view text(target.data(), static_cast<size_t>(length));
  if (!text.starts_with('/') || text.ends_with(" (deleted)")) return std::nullopt;
  return std::string(text);
}

Result<std::string> resolved_by_steps(const std::string& path) {
  std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), std::free);
  if (!resolved) return system_error(path);
  return std::string(resolved.get());
}

} // namespace

// Three system calls instead of one for each folder on the way, and one for what is not there.
Result<std::string> real_path(const std::string& path) {
  if (has_magic_links(path)) return resolved_by_steps(path);
  const int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return system_error(path);
  if (fd < 0) return resolved_by_steps(path);
  auto name = name_of_open(fd);
  close(fd);
  return name ? std::move(*name) : resolved_by_steps(path);
}

Result<std::string> read_head(const std::string& path, size_t n) {
  return read_up_to(path, n);
}

Result<std::string> read_small_file(const std::string& path, size_t most) {
  auto text = read_up_to(path, most + 1);
  if (text && text->size() > most)
    return fail("the file is larger than the " + std::to_string(most) + " bytes expected of it",
                path);
  return text;
}

bool is_kernel_tree(const std::string& path) {
  struct statfs status {};
  if (statfs(path.c_str(), &status) != 0) return false;
  switch (static_cast<unsigned long>(status.f_type)) {
  case PROC_SUPER_MAGIC:
  case SYSFS_MAGIC:
  case DEVPTS_SUPER_MAGIC:
  case CGROUP_SUPER_MAGIC:
  case CGROUP2_SUPER_MAGIC:
  case DEBUGFS_MAGIC:
  case TRACEFS_MAGIC:
  case SECURITYFS_MAGIC:
  case BPF_FS_MAGIC:
    return true;
  default:
    return false;
  }
}

std::string join_path(const std::string& folder, const std::string& name) {
  if (folder.empty() || (!name.empty() && name.front() == '/')) return name;
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

std::string parent_folder(const std::string& path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_name(const std::string& path) {
  size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

} // namespace gpuvet
