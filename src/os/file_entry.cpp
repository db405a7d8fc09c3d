#include "os/file_entry.hpp"

#include "os/file_tree.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace gpuvet {
namespace {

tl::unexpected<Error> system_error(const std::string& path) {
  // A file where a folder was expected is absence too: /proc/driver/nvidia below no such folder.
  if (errno == ENOENT || errno == ENOTDIR) return fail(kNoSuchFile, path);
  return fail(std::strerror(errno), path);
}

EntryType kind_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryType::regular;
  if (S_ISDIR(mode)) return EntryType::folder;
  if (S_ISLNK(mode)) return EntryType::link;
  if (S_ISCHR(mode)) return EntryType::character;
  if (S_ISBLK(mode)) return EntryType::block;
  return EntryType::other;
}

} // namespace

Result<FileEntry> file_entry(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return system_error(path);
  return FileEntry{.kind = kind_of(status.st_mode),
                   .size = status.st_size > 0 ? static_cast<uint64_t>(status.st_size) : 0,
                   .mode = status.st_mode & 07777U,
                   .uid = status.st_uid,
                   .gid = status.st_gid,
                   .device = status.st_dev,
                   .inode = status.st_ino,
                   .major = major(status.st_rdev),
                   .minor = minor(status.st_rdev),
                   .changed = status.st_mtim.tv_sec};
}

Result<std::string> link_target(const std::string& path) {
  std::string target(256, '\0');
  for (;;) {
    ssize_t length = readlink(path.c_str(), target.data(), target.size());
    if (length < 0) return system_error(path);
    auto used = static_cast<size_t>(length);
    if (used < target.size()) {
      target.resize(used);
      return target;
    }
    if (target.size() > size_t{1} << 16) return fail("the link's target is too long", path);
    target.resize(target.size() * 4);
  }
}

int try_to_open_node(const std::string& path) {
  int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

int access_error(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

Result<FileSystemSpace> file_system_space(const std::string& path) {
  struct statvfs status {};
  if (statvfs(path.c_str(), &status) != 0) return system_error(path);
  return FileSystemSpace{.total = uint64_t{status.f_blocks} * status.f_frsize,
                         .free = uint64_t{status.f_bavail} * status.f_frsize,
                         .read_only = (status.f_flag & ST_RDONLY) != 0,
                         .no_exec = (status.f_flag & ST_NOEXEC) != 0};
}

Result<std::string> read_whole_file(const std::string& path, size_t most) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return system_error(path);
  if (S_ISDIR(status.st_mode)) return fail("this is a folder", path);
  if (!S_ISREG(status.st_mode)) return fail("this is not a regular file", path);
  return read_small_file(path, most);
}

} // namespace gpuvet
