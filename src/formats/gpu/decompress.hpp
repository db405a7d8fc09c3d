// The compressions found inside fat binaries. A Decoder hands out the decompressed bytes from the
// front, so that a reader can stop after the few kilobytes that it needs; the frame's own claim of
// its size is never trusted.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/binary.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gpuvet {

// More than this is never decompressed from one image.
constexpr uint64_t kMaxImageSize = uint64_t{1} << 30;

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Appends up to `n` more bytes to `out`; returns how many, 0 at the end. Errors: damaged data.
  virtual Result<size_t> more(std::vector<uint8_t>& out, size_t n) = 0;
};

// `stored` must outlive the decoder. `raw_size` bounds the output (an LZ4 block does not say its
// own size).
std::unique_ptr<Decoder> make_decoder(Compression compression, Bytes stored, uint64_t raw_size);

// The whole image, at most `limit` bytes; an error when there is more.
Result<std::vector<uint8_t>> decompress(Compression compression, Bytes stored, uint64_t raw_size,
                                        uint64_t limit = kMaxImageSize);

} // namespace gpuvet
