// A temporary file without a name: it takes space in $TMPDIR (or /tmp) and vanishes with the object
// or with the process, however that ends.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "os/file_map.hpp"

#include <string>

namespace gpuvet {

class TemporaryFile {
 public:
  static Result<TemporaryFile> make();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  ~TemporaryFile();

  Result<void> append(Bytes bytes);
  Result<FileMap> map() const; // of what was appended so far

 private:
  TemporaryFile(int fd, std::string folder) : fd_(fd), folder_(std::move(folder)) {}

  int fd_ = -1;
  std::string folder_;
};

} // namespace gpuvet
