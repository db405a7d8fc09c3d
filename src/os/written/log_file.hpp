// A file that grows by whole lines: what was added is there even when the program dies the next
// moment.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace gpuvet {

class LogFile {
 public:
  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&&) = delete;
  ~LogFile();

  Result<void> add(std::string_view lines);

 private:
  friend Result<LogFile> open_log(const std::string& path, bool may_exist);
  LogFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
};

// `may_exist`: an existing file is gone on with, else it is left alone and this is an error. Never
// follows a link. Readable by its owner and group only.
Result<LogFile> open_log(const std::string& path, bool may_exist);

} // namespace gpuvet
