#include "formats/byte_stream.hpp"

#include <algorithm>
#include <cstring>

namespace gpuvet {
namespace {

// Pulled at a time: large enough that a decompressor's fixed cost per call vanishes, small enough
// that the bytes are still in the second-level cache when they are scanned.
constexpr size_t kPiece = size_t{512} << 10;

// A first window is often a look at the magic number of a file that nobody wants.
constexpr size_t kFirstPiece = size_t{16} << 10;

} // namespace

Result<Bytes> MemoryStream::window(uint64_t at, size_t n) {
  return bytes_.clamp(at, n);
}

Result<Bytes> PartStream::window(uint64_t at, size_t n) {
  if (size_ && at >= *size_) return Bytes();
  if (size_) n = static_cast<size_t>(std::min<uint64_t>(n, *size_ - at));
  auto bytes = outer_.window(base_ + at, n);
  if (bytes && size_ && bytes->size() < n) return fail("the archive is cut off here", where_);
  return bytes;
}

// Pulls until the buffer holds `until` bytes (within its capacity) or the content ends.
Result<void> SequentialStream::fill(size_t until) {
  while (!ended_ && filled_ < until) {
    size_t piece = start_ + filled_ == 0 ? kFirstPiece : kPiece;
    size_t want = std::min(std::max(until - filled_, piece), capacity_ - filled_);
    auto got = pull(buffer_.get() + filled_, want);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) ended_ = true;
    filled_ += *got;
  }
  return {};
}

// Forgets what lies before `at`; what has not been pulled yet is pulled and dropped.
Result<void> SequentialStream::skip_to(uint64_t at) {
  make_room(0, 0);
  while (!ended_ && start_ + filled_ <= at) {
    start_ += filled_;
    filled_ = 0;
    auto more = fill(1);
    if (!more) return more;
  }
  return {};
}

// Drops the first `drop` bytes and makes the buffer large enough for a window of n bytes.
void SequentialStream::make_room(size_t drop, size_t n) {
  size_t wanted = std::max(n + kPiece, 4 * kPiece);
  if (wanted > capacity_) {
    auto larger = std::make_unique_for_overwrite<uint8_t[]>(wanted);
    if (filled_ > drop) std::memcpy(larger.get(), buffer_.get() + drop, filled_ - drop);
    buffer_ = std::move(larger);
    capacity_ = wanted;
  } else if (filled_ > drop) {
    std::memmove(buffer_.get(), buffer_.get() + drop, filled_ - drop);
  }
  filled_ -= drop;
  start_ += drop;
}

Result<Bytes> SequentialStream::window(uint64_t at, size_t n) {
  if (n > kMaxWindow)
    return fail("a read of " + std::to_string(n) + " bytes at once is over the limit",
                "offset " + std::to_string(at));
  if (at < start_)
    return fail("this file can be read only from front to back", "offset " + std::to_string(at));

  if (at > start_ + filled_) {
    if (auto there = skip_to(at); !there) return tl::unexpected(there.error());
  }
  uint64_t ahead = at - start_;
  if (ahead > filled_) return Bytes(); // behind the end
  size_t from = static_cast<size_t>(ahead);
  if (filled_ - from < n && !ended_) {
    if (from + n > capacity_) {
      make_room(from, n);
      from = 0;
    }
    if (auto more = fill(from + n); !more) return tl::unexpected(more.error());
  }
  return Bytes(buffer_.get(), filled_).clamp(from, n);
}

} // namespace gpuvet
