#include "os/written/temporary_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace gpuvet {

Result<TemporaryFile> TemporaryFile::make() {
  const char* chosen = std::getenv("TMPDIR");
  std::string folder = chosen && *chosen ? chosen : "/tmp";
  int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) { // some file systems, overlayfs of old kernels among them, have no O_TMPFILE
    std::string name = folder + "/gpuvet-XXXXXX";
    fd = mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0)
      return fail(std::string("no temporary file can be made here: ") + std::strerror(errno) +
                      ". Set TMPDIR to a folder with room.",
                  folder);
    unlink(name.c_str());
  }
  return TemporaryFile(fd, folder);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), folder_(std::move(other.folder_)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(folder_, other.folder_);
  return *this;
}

TemporaryFile::~TemporaryFile() {
  if (fd_ >= 0) close(fd_);
}

Result<void> TemporaryFile::append(Bytes bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t wrote = write(fd_, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0)
      return fail(std::string("the temporary file cannot be written: ") + std::strerror(errno) +
                      ". Set TMPDIR to a folder with more room.",
                  folder_);
    done += static_cast<size_t>(wrote);
  }
  return {};
}

Result<FileMap> TemporaryFile::map() const {
  return map_descriptor(fd_, "temporary file in " + folder_);
}

} // namespace gpuvet
