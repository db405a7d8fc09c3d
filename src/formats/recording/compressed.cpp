#include "formats/recording/recording.hpp"

#include <zstd.h>

#include <memory>

namespace gpuvet {
namespace {

constexpr size_t kLargest = size_t{256} << 20; // bytes of JSON
constexpr uint32_t kMagic = 0xfd2fb528;
constexpr int kLevel = 9;

} // namespace

Result<std::string> recording_text(Bytes stored, const std::string& where) {
  if (stored.read<uint32_t>(0) != kMagic) {
    if (stored.size() > kLargest) return fail("the recording is too large", where);
    return std::string(stored.text());
  }
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  std::string text;
  ZSTD_inBuffer in{stored.data(), stored.size(), 0};
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  for (size_t left = 1; in.pos < in.size || left > 0;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const size_t before = in.pos;
    left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left)) return fail("its zstd compression is damaged", where);
    text.append(piece, 0, out.pos);
    if (text.size() > kLargest) return fail("the recording is too large", where);
    if (out.pos == 0 && in.pos == before) {
      if (left > 0) return fail("its zstd compression ends too early", where);
      break;
    }
  }
  return text;
}

std::string compressed_recording(std::string_view text) {
  std::string stored(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress(stored.data(), stored.size(), text.data(), text.size(), kLevel);
  stored.resize(ZSTD_isError(size) ? 0 : size);
  return stored;
}

} // namespace gpuvet
