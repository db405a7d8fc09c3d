#include "formats/gpu/decompress.hpp"

#include <lz4.h>
#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <utility>

namespace gpuvet {
namespace {

class RawDecoder final : public Decoder {
 public:
  explicit RawDecoder(Bytes stored) : rest_(stored) {}
  Result<size_t> more(std::vector<uint8_t>& out, size_t n) override {
    Bytes piece = rest_.clamp(0, n);
    out.insert(out.end(), piece.data(), piece.data() + piece.size());
    rest_ = rest_.clamp(piece.size(), rest_.size());
    return piece.size();
  }

 private:
  Bytes rest_;
};

// A zstd context is large and slow to set up, and scans decode thousands of small images: each
// thread keeps one for the next decoder.
ZSTD_DStream* take_zstd_stream();
void give_zstd_stream(ZSTD_DStream* stream);

class ZstdDecoder final : public Decoder {
 public:
  explicit ZstdDecoder(Bytes stored)
      : stream_(take_zstd_stream()), in_{stored.data(), stored.size(), 0} {}
  ~ZstdDecoder() override { give_zstd_stream(stream_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  Result<size_t> more(std::vector<uint8_t>& out, size_t n) override {
    size_t before = out.size();
    out.resize(before + n);
    ZSTD_outBuffer piece{out.data() + before, n, 0};
    while (piece.pos < piece.size && !done_) {
      size_t in_before = in_.pos, out_before = piece.pos;
      size_t code = ZSTD_decompressStream(stream_, &piece, &in_);
      if (ZSTD_isError(code)) {
        out.resize(before);
        return fail(std::string("damaged zstd data: ") + ZSTD_getErrorName(code));
      }
      if (code == 0) done_ = true;
      if (in_.pos == in_before && piece.pos == out_before && !done_) {
        out.resize(before);
        return fail("the zstd data ends too early");
      }
    }
    out.resize(before + piece.pos);
    return piece.pos;
  }

 private:
  ZSTD_DStream* stream_;
  ZSTD_inBuffer in_;
  bool done_ = false;
};

struct ZstdSpare {
  ZSTD_DStream* stream = nullptr;
  ~ZstdSpare() { ZSTD_freeDStream(stream); }
};
thread_local ZstdSpare zstd_spare;

ZSTD_DStream* take_zstd_stream() {
  ZSTD_DStream* stream = std::exchange(zstd_spare.stream, nullptr);
  if (!stream) stream = ZSTD_createDStream();
  ZSTD_DCtx_reset(stream, ZSTD_reset_session_and_parameters);
  ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, 27); // 128 MiB of history at most
  return stream;
}

void give_zstd_stream(ZSTD_DStream* stream) {
  if (zstd_spare.stream)
    ZSTD_freeDStream(stream);
  else
    zstd_spare.stream = stream;
}

class ZlibDecoder final : public Decoder {
 public:
  explicit ZlibDecoder(Bytes stored) : rest_(stored) { ready_ = inflateInit(&stream_) == Z_OK; }
  ~ZlibDecoder() override { inflateEnd(&stream_); }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;

  Result<size_t> more(std::vector<uint8_t>& out, size_t n) override {
    if (!ready_) return fail("zlib could not be started: out of memory");
    if (done_) return size_t{0};
    n = std::min<size_t>(n, 1u << 30);
    size_t before = out.size();
    out.resize(before + n);
    stream_.next_out = out.data() + before;
    stream_.avail_out = static_cast<uInt>(n);
    while (stream_.avail_out > 0 && !done_) {
      if (stream_.avail_in == 0) {
        Bytes piece = rest_.clamp(0, 1u << 30);
        stream_.next_in = const_cast<Bytef*>(piece.data());
        stream_.avail_in = static_cast<uInt>(piece.size());
        rest_ = rest_.clamp(piece.size(), rest_.size());
      }
      int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END)
        done_ = true;
      else if (code != Z_OK) {
        out.resize(before);
        return fail(code == Z_BUF_ERROR ? "the zlib data ends too early" : "damaged zlib data");
      }
    }
    size_t got = n - stream_.avail_out;
    out.resize(before + got);
    return got;
  }

 private:
  z_stream stream_{};
  Bytes rest_;
  bool ready_ = false, done_ = false;
};

class Lz4FrameDecoder final : public Decoder {
 public:
  explicit Lz4FrameDecoder(Bytes stored) : rest_(stored) {
    ready_ = !LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION));
  }
  ~Lz4FrameDecoder() override { LZ4F_freeDecompressionContext(context_); }
  Lz4FrameDecoder(const Lz4FrameDecoder&) = delete;
  Lz4FrameDecoder& operator=(const Lz4FrameDecoder&) = delete;

  Result<size_t> more(std::vector<uint8_t>& out, size_t n) override {
    if (!ready_) return fail("LZ4 could not be started: out of memory");
    size_t before = out.size(), got = 0;
    out.resize(before + n);
    while (got < n && !done_) {
      size_t room = n - got, taken = rest_.size();
      size_t code = LZ4F_decompress(context_, out.data() + before + got, &room, rest_.data(),
                                    &taken, nullptr);
      bool stuck = room == 0 && taken == 0 && code != 0;
      if (LZ4F_isError(code) || stuck) {
        out.resize(before);
        return fail(stuck ? "the LZ4 frame ends too early" : "damaged LZ4 frame");
      }
      rest_ = rest_.clamp(taken, rest_.size());
      got += room;
      if (code == 0) done_ = true;
    }
    out.resize(before + got);
    return got;
  }

 private:
  LZ4F_dctx* context_ = nullptr;
  Bytes rest_;
  bool ready_ = false, done_ = false;
};

// An LZ4 block cannot be resumed: each call decodes from the start, so callers ask for doubling
// amounts. LZ4's limit is 255 bytes out for one in, which bounds a lying raw_size.
class Lz4BlockDecoder final : public Decoder {
 public:
  Lz4BlockDecoder(Bytes stored, uint64_t raw_size)
      : stored_(stored), raw_size_(std::min(raw_size, uint64_t{stored.size()} * 255 + 64)) {}

  Result<size_t> more(std::vector<uint8_t>& out, size_t n) override {
    uint64_t target = std::min<uint64_t>(given_ + n, raw_size_);
    if (target <= given_) return size_t{0};
    if (target > kMaxImageSize || stored_.size() > kMaxImageSize)
      return fail("the LZ4 block is larger than 1 GiB");
    std::vector<uint8_t> whole(static_cast<size_t>(target));
    int got = LZ4_decompress_safe_partial(
        reinterpret_cast<const char*>(stored_.data()), reinterpret_cast<char*>(whole.data()),
        static_cast<int>(stored_.size()), static_cast<int>(target), static_cast<int>(target));
    if (got < 0) return fail("damaged LZ4 block");
    size_t fresh = static_cast<size_t>(got) > given_ ? static_cast<size_t>(got) - given_ : 0;
    if (fresh == 0) return fail("the LZ4 block ends too early");
    out.insert(out.end(), whole.begin() + static_cast<ptrdiff_t>(given_),
               whole.begin() + static_cast<ptrdiff_t>(given_ + fresh));
    given_ += fresh;
    return fresh;
  }

 private:
  Bytes stored_;
  uint64_t raw_size_;
  size_t given_ = 0;
};

} // namespace

std::unique_ptr<Decoder> make_decoder(Compression compression, Bytes stored, uint64_t raw_size) {
  switch (compression) {
  case Compression::none:
    return std::make_unique<RawDecoder>(stored);
  case Compression::zlib:
    return std::make_unique<ZlibDecoder>(stored);
  case Compression::lz4_block:
    return std::make_unique<Lz4BlockDecoder>(stored, raw_size);
  case Compression::lz4_frame:
    return std::make_unique<Lz4FrameDecoder>(stored);
  case Compression::zstd:
    return std::make_unique<ZstdDecoder>(stored);
  }
  return std::make_unique<RawDecoder>(Bytes{});
}

Result<std::vector<uint8_t>> decompress(Compression compression, Bytes stored, uint64_t raw_size,
                                        uint64_t limit) {
  if (raw_size > limit)
    return fail("the image claims to be " + std::to_string(raw_size) +
                " bytes, more than is ever decompressed");
  auto decoder = make_decoder(compression, stored, raw_size);
  std::vector<uint8_t> out;
  for (size_t step = size_t{1} << 16;; step = std::min<size_t>(step * 2, size_t{16} << 20)) {
    if (compression == Compression::lz4_block) step = static_cast<size_t>(raw_size);
    auto got = decoder->more(out, step);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return out;
    if (out.size() > limit) return fail("the image decompresses to more than its header says");
  }
}

} // namespace gpuvet
