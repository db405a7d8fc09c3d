#include "os/written/replace_file.hpp"

#include "os/file_entry.hpp"
#include "os/file_tree.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

namespace gpuvet {
namespace {

// A file beside the one to be replaced; gone unless it was kept.
struct NewFile {
  std::string path;
  int fd = -1;
  bool kept = false;

  explicit NewFile(const std::string& beside) : path(beside + ".gpuvet-XXXXXX") {
    fd = mkostemp(path.data(), O_CLOEXEC);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (fd >= 0) close(fd);
    if (fd >= 0 && !kept) unlink(path.c_str());
  }
};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote >= 0)
      text.remove_prefix(static_cast<size_t>(wrote));
    else if (errno != EINTR)
      return false;
  }
  return true;
}

// Extended attributes, access control lists among them; false: some can't be carried over.
bool copy_attributes(const std::string& from, int to) {
  ssize_t size = listxattr(from.c_str(), nullptr, 0);
  if (size < 0) return errno == ENOTSUP;
  std::vector<char> names(static_cast<size_t>(size));
  size = names.empty() ? 0 : listxattr(from.c_str(), names.data(), names.size());
  if (size < 0) return false;
  for (size_t at = 0; at < static_cast<size_t>(size);) {
    const char* name = names.data() + at;
    at += std::strlen(name) + 1;
    ssize_t length = getxattr(from.c_str(), name, nullptr, 0);
    if (length < 0) return false;
    std::vector<char> value(static_cast<size_t>(length) + 1);
    length = getxattr(from.c_str(), name, value.data(), value.size());
    if (length < 0) return false;
    if (fsetxattr(to, name, value.data(), static_cast<size_t>(length), 0) == 0) continue;
    // The kernel gives the new file its security label itself.
    if (std::string_view(name).starts_with("security.")) continue;
    return false;
  }
  return true;
}

tl::unexpected<Error> refused(const std::string& why, const std::string& path) {
  return fail("the file is left as it is: " + why, path);
}

} // namespace

Result<void> replace_file(const std::string& path, std::string_view before,
                          std::string_view after) {
  auto real = real_path(path);
  if (!real) return tl::unexpected(real.error());
  struct stat status {};
  if (lstat(real->c_str(), &status) != 0) return refused(std::strerror(errno), path);
  if (!S_ISREG(status.st_mode)) return refused("it is no regular file", path);
  if (status.st_nlink > 1) return refused("it has several names (hard links)", path);
  NewFile made(*real);
  if (made.fd < 0)
    return refused(std::string("no file can be made beside it: ") + std::strerror(errno), path);
  if (!write_all(made.fd, after)) return refused(std::strerror(errno), path);
  if ((status.st_uid != geteuid() || status.st_gid != getegid()) &&
      fchown(made.fd, status.st_uid, status.st_gid) != 0)
    return refused("its owner and group can't be kept", path);
  if (fchmod(made.fd, status.st_mode & 07777) != 0) return refused("its mode can't be kept", path);
  if (!copy_attributes(*real, made.fd))
    return refused("its extended attributes can't be kept", path);
  if (fsync(made.fd) != 0) return refused(std::strerror(errno), path);
  auto now = read_whole_file(*real, before.size() + 1);
  if (!now || *now != before) return refused("it has changed in the meantime", path);
  if (rename(made.path.c_str(), real->c_str()) != 0) return refused(std::strerror(errno), path);
  made.kept = true;
  return {};
}

} // namespace gpuvet
