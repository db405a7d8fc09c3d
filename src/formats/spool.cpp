#include "formats/spool.hpp"

#include "formats/unpack_limits.hpp"

namespace gpuvet {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

} // namespace

Result<Spooled> Spooled::read(ByteStream& stream, const MakeSpoolFile& make_file,
                              const std::string& where) {
  Spooled kept;
  if (stream.random_access()) {
    auto all = stream.window(0, static_cast<size_t>(stream.size().value_or(0)));
    if (!all) return tl::unexpected(all.error());
    kept.bytes_ = *all;
    return kept;
  }
  kept.memory_ = std::make_unique<std::string>();
  for (uint64_t at = 0;;) {
    auto piece = stream.window(at, kPiece);
    if (!piece) return tl::unexpected(piece.error());
    at += piece->size();
    if (at > limits::member_bytes)
      return fail("a member of more than 64 GiB is not unpacked", where);
    if (!kept.file_ && at > limits::spool_memory) {
      auto file = make_file();
      if (!file) return tl::unexpected(file.error());
      kept.file_ = std::move(*file);
      if (auto ok = kept.file_->append(Bytes(std::string_view(*kept.memory_))); !ok)
        return tl::unexpected(ok.error());
      kept.memory_.reset();
    }
    if (kept.file_) {
      if (auto ok = kept.file_->append(*piece); !ok) return tl::unexpected(ok.error());
    } else {
      kept.memory_->append(piece->text());
    }
    if (piece->size() < kPiece) break;
  }
  if (kept.file_) {
    auto all = kept.file_->content();
    if (!all) return tl::unexpected(all.error());
    kept.bytes_ = *all;
  } else {
    kept.bytes_ = Bytes(std::string_view(*kept.memory_));
  }
  return kept;
}

} // namespace gpuvet
