#include "os/written/log_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gpuvet {

LogFile::LogFile(LogFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

LogFile::~LogFile() {
  if (fd_ >= 0) close(fd_);
}

Result<void> LogFile::add(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t wrote = write(fd_, lines.data(), lines.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0)
      return fail(std::string("the log cannot be written: ") + std::strerror(errno), path_);
    lines.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

Result<LogFile> open_log(const std::string& path, bool may_exist) {
  int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  if (!may_exist) flags |= O_EXCL;
  const int fd = open(path.c_str(), flags, 0640);
  if (fd < 0 && errno == EEXIST)
    return fail("the file exists already and is left as it is; name another", path);
  if (fd < 0) return fail(std::string("the log cannot be opened: ") + std::strerror(errno), path);
  LogFile log(fd, path);
  // Half a line of a run that died would swallow the next one.
  struct stat status {};
  char last = '\n';
  if (fstat(fd, &status) == 0 && status.st_size > 0 &&
      pread(fd, &last, 1, status.st_size - 1) == 1 && last != '\n')
    if (auto done = log.add("\n"); !done) return tl::unexpected<Error>(done.error());
  return log;
}

} // namespace gpuvet
