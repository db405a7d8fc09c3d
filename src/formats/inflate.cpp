#include "formats/inflate.hpp"

#include "formats/unpack_limits.hpp"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <utility>

namespace gpuvet {
namespace {

constexpr size_t kInputPiece = size_t{1} << 20;

// What the stream needs of ISA-L: input chunks in, output bytes out, and whether the end was seen.
class Inflater {
 public:
  Inflater(ByteStream& stored, uint32_t wrapper) : stored_(stored), wrapper_(wrapper) {
    isal_inflate_init(&state_);
    state_.crc_flag = wrapper_;
  }

  uint64_t consumed() const { return at_ - state_.avail_in; }
  bool finished() const { return state_.block_state == ISAL_BLOCK_FINISH; }

  // Up to n bytes; fewer only at the end of the deflate stream. Errors carry no place.
  Result<size_t> read(uint8_t* out, size_t n) {
    // A 32-bit count; a window is far below it.
    state_.next_out = out;
    state_.avail_out = static_cast<uint32_t>(std::min<size_t>(n, UINT32_MAX));
    uint32_t asked = state_.avail_out;
    while (state_.avail_out > 0 && !finished()) {
      if (auto ready = refill(); !ready) return tl::unexpected(ready.error());
      uint32_t in_before = state_.avail_in;
      uint32_t out_before = state_.avail_out;
      int status = isal_inflate(&state_);
      if (status < 0) return fail("the compressed data is damaged");
      bool stuck = in_before == state_.avail_in && out_before == state_.avail_out;
      if (stuck && !finished()) return fail("the compressed data ends too early");
    }
    return asked - state_.avail_out;
  }

  // After finished(): does another gzip member follow? Starts it if so. Zero padding after a member
  // is allowed (tapes pad), anything else is not looked at.
  Result<bool> next_member() {
    if (auto ready = refill(); !ready) return tl::unexpected(ready.error());
    if (state_.avail_in < 2) {
      auto rest = stored_.window(consumed(), 2);
      if (!rest) return tl::unexpected(rest.error());
      set_input(*rest);
    }
    if (state_.avail_in < 2 || state_.next_in[0] != 0x1f || state_.next_in[1] != 0x8b) return false;
    isal_inflate_reset(&state_);
    state_.crc_flag = wrapper_;
    return true;
  }

 private:
  void set_input(Bytes chunk) {
    at_ = consumed() + chunk.size();
    // ISA-L does not write through next_in; its C interface only lacks the const.
    state_.next_in = const_cast<uint8_t*>(chunk.data());
    state_.avail_in = static_cast<uint32_t>(chunk.size());
  }

  Result<void> refill() {
    if (state_.avail_in > 0) return {};
    auto chunk = stored_.window(at_, kInputPiece);
    if (!chunk) return tl::unexpected(chunk.error());
    set_input(*chunk);
    return {};
  }

  ByteStream& stored_;
  uint32_t wrapper_;
  uint64_t at_ = 0; // in `stored_`, behind the chunk that ISA-L holds
  inflate_state state_;
};

// Stored bytes in memory, read once from front to back; what lies behind the reader is released.
class ReleasingStream final : public ByteStream {
 public:
  ReleasingStream(Bytes bytes, ReleaseBytes release)
      : bytes_(bytes), release_(std::move(release)) {}

  Result<Bytes> window(uint64_t at, size_t n) override {
    if (release_ && at >= released_ + kInputPiece) {
      release_(bytes_.clamp(released_, at - released_));
      released_ = at;
    }
    return bytes_.clamp(at, n);
  }
  std::optional<uint64_t> size() const override { return bytes_.size(); }
  Bytes bytes() const { return bytes_; }
  const ReleaseBytes& release() const { return release_; }

 private:
  Bytes bytes_;
  ReleaseBytes release_;
  uint64_t released_ = 0;
};

class ZipMemberStream final : public SequentialStream {
 public:
  ZipMemberStream(Bytes stored, InflatePromise promise, std::string name, ReleaseBytes release)
      : stored_(stored, std::move(release)), inflater_(stored_, ISAL_DEFLATE), promise_(promise),
        name_(std::move(name)) {}

  std::optional<uint64_t> size() const override { return promise_.size; }

  std::unique_ptr<ByteStream> again() const override {
    return std::make_unique<ZipMemberStream>(stored_.bytes(), promise_, name_, stored_.release());
  }

 protected:
  Result<size_t> pull(uint8_t* out, size_t n) override {
    auto got = inflater_.read(out, n);
    if (!got) return fail(got.error().what, name_ + ", offset " + std::to_string(total_));
    crc_ = crc32_gzip_refl(crc_, out, *got);
    total_ += *got;
    if (total_ > promise_.size)
      return fail("the member is longer than the zip directory says", name_);
    if (*got < n && total_ < promise_.size)
      return fail("the member is shorter than the zip directory says", name_);
    if (total_ == promise_.size && crc_ != promise_.crc)
      return fail("the member's checksum does not match the zip directory: the file is damaged",
                  name_);
    return *got;
  }

 private:
  ReleasingStream stored_;
  Inflater inflater_;
  InflatePromise promise_;
  std::string name_;
  uint32_t crc_ = 0;
  uint64_t total_ = 0;
};

class GzipStream final : public SequentialStream {
 public:
  GzipStream(ByteStream& stored, std::string name, Budget& budget)
      : inflater_(stored, ISAL_GZIP), name_(std::move(name)), budget_(budget) {}

  std::optional<uint64_t> size() const override { return std::nullopt; }

 protected:
  Result<size_t> pull(uint8_t* out, size_t n) override {
    for (;;) {
      auto got = inflater_.read(out, n);
      if (!got) return fail(got.error().what, name_ + ", offset " + std::to_string(total_));
      total_ += *got;
      if (total_ > most_expanded(inflater_.consumed()) || !budget_.spend(*got))
        return fail(std::string(kBombText), name_);
      if (*got > 0 || !inflater_.finished()) return *got;
      auto more = inflater_.next_member();
      if (!more) return tl::unexpected(more.error());
      if (!*more) return size_t{0};
    }
  }

 private:
  Inflater inflater_;
  std::string name_;
  Budget& budget_;
  uint64_t total_ = 0;
};

} // namespace

std::unique_ptr<ByteStream> inflate_member(Bytes stored, InflatePromise promise, std::string name,
                                           ReleaseBytes release) {
  return std::make_unique<ZipMemberStream>(stored, promise, std::move(name), std::move(release));
}

std::unique_ptr<ByteStream> gunzip(ByteStream& stored, std::string name, Budget& budget) {
  return std::make_unique<GzipStream>(stored, std::move(name), budget);
}

} // namespace gpuvet
