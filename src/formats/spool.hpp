// Some formats must be read out of order, but lie inside a compressed stream. Such a piece is kept:
// in memory while it is small, in a temporary file beyond limits::spool_memory. The formats know no
// files, so the caller hands in how a temporary file is made.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "formats/byte_stream.hpp"

#include <functional>
#include <memory>
#include <string>

namespace gpuvet {

class SpoolFile {
 public:
  virtual ~SpoolFile() = default;
  virtual Result<void> append(Bytes bytes) = 0;
  // Everything appended; valid as long as the SpoolFile.
  virtual Result<Bytes> content() = 0;
};

using MakeSpoolFile = std::function<Result<std::unique_ptr<SpoolFile>>()>;

// Reads `stream` to its end. Streams with random access are not copied.
class Spooled {
 public:
  static Result<Spooled> read(ByteStream& stream, const MakeSpoolFile& make_file,
                              const std::string& where);
  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  std::unique_ptr<std::string> memory_; // on the heap so that a move keeps bytes_ valid
  std::unique_ptr<SpoolFile> file_;
};

} // namespace gpuvet
