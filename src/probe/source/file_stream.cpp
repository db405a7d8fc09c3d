#include "probe/source/file_stream.hpp"

#include <algorithm>

namespace gpuvet {

// A header and what is looked at behind it; headers of small images stand closer than that.
constexpr size_t kLeast = 512; // bytes

Result<Bytes> FileStream::window(uint64_t at, size_t n) {
  if (n > kMaxWindow) return fail("too large a part was asked for");
  const bool inside = at >= from_ && at - from_ <= filled_ && n <= filled_ - (at - from_);
  if (!inside) {
    const size_t wanted = std::max(n, kLeast);
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    auto got = file_.read(at, buffer_.data(), wanted);
    if (!got) return tl::unexpected(got.error());
    from_ = at;
    filled_ = *got;
  }
  return Bytes(buffer_.data(), filled_).clamp(at - from_, n);
}

} // namespace gpuvet
