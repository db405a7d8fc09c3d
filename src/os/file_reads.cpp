#include "os/file_reads.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gpuvet {

FileReads::FileReads(FileReads&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), size_(other.size_), seconds_(other.seconds_),
      nanoseconds_(other.nanoseconds_) {}

FileReads& FileReads::operator=(FileReads&& other) noexcept {
  std::swap(fd_, other.fd_);
  size_ = other.size_;
  seconds_ = other.seconds_;
  nanoseconds_ = other.nanoseconds_;
  return *this;
}

FileReads::~FileReads() {
  if (fd_ >= 0) close(fd_);
}

Result<size_t> FileReads::read(uint64_t at, void* to, size_t n) const {
  auto* bytes = static_cast<char*>(to);
  if (at >= size_) return size_t{0};
  n = static_cast<size_t>(std::min<uint64_t>(n, size_ - at));
  size_t done = 0;
  while (done < n) {
    const ssize_t got = pread(fd_, bytes + done, n - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(std::string("the file cannot be read: ") + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

bool FileReads::changed() const {
  struct stat status {};
  return fstat(fd_, &status) != 0 || static_cast<uint64_t>(status.st_size) != size_ ||
         status.st_mtim.tv_sec != seconds_ || status.st_mtim.tv_nsec != nanoseconds_;
}

Result<FileReads> open_for_reads(const std::string& path) {
  FileReads file;
  // O_NONBLOCK so that a FIFO that took the file's place can't make us wait.
  file.fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file.fd_ < 0)
    return fail(std::string("the file cannot be opened: ") + std::strerror(errno), path);
  struct stat status {};
  if (fstat(file.fd_, &status) != 0) return fail(std::strerror(errno), path);
  if (!S_ISREG(status.st_mode)) return fail("this is not a regular file", path);
  file.size_ = status.st_size > 0 ? static_cast<uint64_t>(status.st_size) : 0;
  file.seconds_ = status.st_mtim.tv_sec;
  file.nanoseconds_ = status.st_mtim.tv_nsec;
  return file;
}

} // namespace gpuvet
