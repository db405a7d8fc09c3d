#include "formats/byte_stream.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kPiece = size_t{1} << 20; // how much is pulled at a time

} // namespace

Result<Bytes> MemoryStream::window(uint64_t at, size_t n) {
  return bytes_.clamp(at, n);
}

// Makes the buffer reach `until` (an absolute offset) or the end. False: the end came first.
Result<bool> SequentialStream::fill(uint64_t until) {
  while (!ended_ && start_ + filled_ < until) {
    size_t room_needed = filled_ + kPiece;
    if (buffer_.size() < room_needed) buffer_.resize(room_needed);
    auto got = pull(buffer_.data() + filled_, kPiece);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) ended_ = true;
    filled_ += *got;
  }
  return start_ + filled_ >= until;
}

Result<Bytes> SequentialStream::window(uint64_t at, size_t n) {
  if (n > kMaxWindow)
    return fail("a read of " + std::to_string(n) + " bytes at once is over the limit",
                "offset " + std::to_string(at));
  if (at < start_)
    return fail("this file can be read only from front to back", "offset " + std::to_string(at));

  // Forget what lies before `at`; when `at` is far ahead, pull and drop until it is reached.
  while (start_ + filled_ < at && !ended_) {
    start_ += filled_;
    filled_ = 0;
    if (auto more = fill(start_ + 1); !more) return tl::unexpected(more.error());
  }
  size_t drop = static_cast<size_t>(std::min<uint64_t>(at - start_, filled_));
  if (drop > 0 && start_ + filled_ < at + n) {
    std::copy(buffer_.begin() + static_cast<ptrdiff_t>(drop),
              buffer_.begin() + static_cast<ptrdiff_t>(filled_), buffer_.begin());
    start_ += drop;
    filled_ -= drop;
  }
  if (auto more = fill(at + n); !more) return tl::unexpected(more.error());
  return Bytes(buffer_.data(), filled_).clamp(at - start_, n);
}

} // namespace gpuvet
