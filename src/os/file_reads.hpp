// A regular file of which a few small parts are read: unlike a map (file_map.hpp) it costs a system
// call for each part and no page faults, which are dear where many threads share the address space.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace gpuvet {

class FileReads {
 public:
  FileReads(FileReads&& other) noexcept;
  FileReads& operator=(FileReads&& other) noexcept;
  ~FileReads();

  uint64_t size() const { return size_; } // bytes, when it was opened

  // Up to n bytes at `at`; fewer at the end.
  Result<size_t> read(uint64_t at, void* to, size_t n) const;

  // Has somebody written to it since it was opened? Then what was read may not belong together.
  bool changed() const;

 private:
  friend Result<FileReads> open_for_reads(const std::string& path);
  FileReads() = default;

  int fd_ = -1;
  uint64_t size_ = 0;
  int64_t seconds_ = 0, nanoseconds_ = 0; // mtime
};

// FIFOs and devices are errors and are never waited for.
Result<FileReads> open_for_reads(const std::string& path);

} // namespace gpuvet
