// A file mapped read-only. Another program may shorten it, or the disk may fail, while it is being
// read; the kernel then sends SIGBUS, which would end gpuvet. Here the missing pages read as zeros
// instead and changed() tells, so whoever read a map asks changed() before believing the result.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace gpuvet {

struct MapSlot;

class FileMap {
 public:
  FileMap() = default;
  FileMap(FileMap&& other) noexcept;
  FileMap& operator=(FileMap&& other) noexcept;
  ~FileMap();

  Bytes bytes() const { return {data_, size_}; }

  // Were bytes missing when they were read? Then what was read is partly zeros.
  bool changed() const;

 private:
  friend Result<FileMap> map_descriptor(int fd, const std::string& path);

  void* data_ = nullptr;
  size_t size_ = 0;
  MapSlot* slot_ = nullptr; // where the SIGBUS handler finds the range
};

// Regular files only: a FIFO or device is an error and is never waited for. An empty file is an
// empty view.
Result<FileMap> map_file(const std::string& path);

// Lets go of the memory behind these bytes of a map; they can be read again, from the disk if need
// be.
void release_pages(Bytes bytes);

// The same for an open descriptor, which may be closed afterwards. `path` is named in errors.
Result<FileMap> map_descriptor(int fd, const std::string& path);

} // namespace gpuvet
