// Reads a ByteStream strictly forward and keeps one range that will be wanted later. An ELF file
// has its section table at the end but sections everywhere, and a wheel member cannot be read
// twice: so the range around the table is copied while it passes by.
#pragma once

#include "formats/byte_stream.hpp"

#include <algorithm>
#include <vector>

namespace gpuvet {

class ForwardReader {
 public:
  // Offsets given to the reader count from `base` in the stream (an archive member's start); `size`
  // is the part's length where known.
  ForwardReader(ByteStream& stream, uint64_t base, std::optional<uint64_t> size)
      : stream_(stream), base_(base), size_(size) {}

  // Bytes [at, at+n), fewer at the end. `at` must not decrease (except on random-access streams).
  Result<Bytes> view(uint64_t at, size_t n) {
    if (pending_ && at > keep_from_) take_kept();
    if (size_ && at >= *size_) return Bytes{};
    if (size_) n = static_cast<size_t>(std::min<uint64_t>(n, *size_ - at));
    return stream_.window(base_ + at, n);
  }

  // Asks for a copy of [from, from+n) when the reader passes it. n <= ByteStream::kMaxWindow.
  void keep(uint64_t from, size_t n) {
    keep_from_ = from;
    keep_size_ = n;
    pending_ = true;
  }

  // The kept bytes; fewer when the file is shorter. Call after the last view.
  Bytes kept() {
    if (pending_) take_kept();
    return Bytes(kept_.data(), kept_.size());
  }
  uint64_t kept_from() const { return keep_from_; }

  // A fresh start over the same content, where the stream can be read twice.
  std::unique_ptr<ByteStream> again() const { return stream_.again(); }

  std::optional<uint64_t> size() const { return size_; }
  bool random_access() const { return stream_.random_access(); }
  uint64_t base() const { return base_; }

 private:
  void take_kept() {
    pending_ = false;
    if (size_ && keep_from_ >= *size_) return;
    size_t n = keep_size_;
    if (size_) n = static_cast<size_t>(std::min<uint64_t>(n, *size_ - keep_from_));
    // A failed read leaves the copy empty: whoever needs it finds the table missing and says so.
    if (auto piece = stream_.window(base_ + keep_from_, n))
      kept_.assign(piece->data(), piece->data() + piece->size());
  }

  ByteStream& stream_;
  uint64_t base_;
  std::optional<uint64_t> size_;
  uint64_t keep_from_ = 0;
  size_t keep_size_ = 0;
  bool pending_ = false;
  std::vector<uint8_t> kept_;
};

} // namespace gpuvet
