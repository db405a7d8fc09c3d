// A file as a ByteStream that keeps no more than the last part it read: for a walk from header to
// header through a file of gigabytes.
#pragma once

#include "formats/byte_stream.hpp"
#include "os/file_reads.hpp"

#include <vector>

namespace gpuvet {

class FileStream final : public ByteStream {
 public:
  explicit FileStream(const FileReads& file) : file_(file) {}

  Result<Bytes> window(uint64_t at, size_t n) override;
  std::optional<uint64_t> size() const override { return file_.size(); }
  bool random_access() const override { return true; }

 private:
  const FileReads& file_;
  std::vector<uint8_t> buffer_; // holds [from_, from_ + filled_) of the file
  uint64_t from_ = 0;
  size_t filled_ = 0;
};

} // namespace gpuvet
