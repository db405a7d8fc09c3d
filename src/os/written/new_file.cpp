#include "os/written/new_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace gpuvet {

Result<void> write_new_file(const std::string& path, std::string_view text) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (fd < 0 && errno == EEXIST)
    return fail("the file exists already and is left as it is; name another with -o", path);
  if (fd < 0) return fail(std::string("the file cannot be made: ") + std::strerror(errno), path);
  int error = 0;
  while (!text.empty() && error == 0) {
    ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote >= 0)
      text.remove_prefix(static_cast<size_t>(wrote));
    else if (errno != EINTR)
      error = errno;
  }
  if (close(fd) != 0 && error == 0) error = errno; // a full disk of another machine tells only here
  if (error == 0) return {};
  unlink(path.c_str());
  return fail(std::string("the file cannot be written: ") + std::strerror(error), path);
}

} // namespace gpuvet
