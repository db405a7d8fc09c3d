#include "os/kernel_messages.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr const char* kPath = "/dev/kmsg";
constexpr size_t kLargestRecord = 8192; // CONSOLE_EXT_LOG_MAX of the kernel
constexpr size_t kMostRecords = 2000000;

} // namespace

Result<void> read_kernel_messages(const std::function<void(std::string_view record)>& each) {
  int fd = open(kPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(std::strerror(errno), kPath);
  char record[kLargestRecord];
  int error = 0;
  for (size_t count = 0; count < kMostRecords; ++count) {
    ssize_t length = read(fd, record, sizeof record);
    if (length > 0)
      each({record, static_cast<size_t>(length)});
    else if (length == 0 || errno == EAGAIN)
      break;
    else if (errno != EPIPE && errno != EINTR) { // EPIPE: overwritten while we read; go on
      error = errno;
      break;
    }
  }
  close(fd);
  if (error) return fail(std::strerror(error), kPath);
  return {};
}

} // namespace gpuvet
