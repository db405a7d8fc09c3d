// The only file that knows libarchive.
#include "formats/archive.hpp"

#include "formats/cpio.hpp"
#include "formats/inflate.hpp"
#include "formats/object/ar.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace gpuvet {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

// What libarchive's callbacks read from, and the error that it can't carry.
struct Feed {
  ByteStream& in;
  uint64_t at = 0;
  std::optional<Error> error = std::nullopt;
};

la_ssize_t feed_read(archive* reader, void* data, const void** buffer) {
  auto& feed = *static_cast<Feed*>(data);
  auto piece = feed.in.window(feed.at, kPiece);
  if (!piece) {
    feed.error = piece.error();
    archive_set_error(reader, EIO, "%s", piece.error().what.c_str());
    return ARCHIVE_FATAL;
  }
  *buffer = piece->data();
  feed.at += piece->size();
  return static_cast<la_ssize_t>(piece->size());
}

// Only for mapped archives: whether the bytes are there is known without reading them.
la_int64_t feed_skip(archive*, void* data, la_int64_t request) {
  auto& feed = *static_cast<Feed*>(data);
  if (!feed.in.random_access() || request <= 0) return 0;
  uint64_t left = feed.in.size().value_or(0) - feed.at;
  uint64_t step = std::min<uint64_t>(left, static_cast<uint64_t>(request));
  feed.at += step;
  return static_cast<la_int64_t>(step);
}

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, FreeArchive>;

// libarchive's words, or those of the stream below, which know better.
Error reader_error(archive* reader, const Feed& feed, const std::string& where) {
  if (feed.error) return *feed.error;
  const char* text = archive_error_string(reader);
  return {std::string("the archive is damaged or cut off: ") + (text ? text : "no reason given"),
          where + ", near offset " + std::to_string(feed.at)};
}

Result<void> start(archive* reader, Feed& feed, const std::string& where) {
  if (!reader) return fail("out of memory", where);
  if (archive_read_open2(reader, &feed, nullptr, feed_read, feed_skip, nullptr) != ARCHIVE_OK)
    return tl::unexpected(reader_error(reader, feed, where));
  return {};
}

class MemberStream final : public SequentialStream {
 public:
  MemberStream(archive* reader, const Feed& feed, std::string where, std::optional<uint64_t> size)
      : reader_(reader), feed_(feed), where_(std::move(where)), size_(size) {}

  std::optional<uint64_t> size() const override { return size_; }

 protected:
  Result<size_t> pull(uint8_t* out, size_t n) override {
    la_ssize_t got = archive_read_data(reader_, out, n);
    if (got < 0) return tl::unexpected(reader_error(reader_, feed_, where_));
    total_ += static_cast<uint64_t>(got);
    if (total_ > most_expanded(feed_.at)) return fail(std::string(kBombText), where_);
    return static_cast<size_t>(got);
  }

 private:
  archive* reader_;
  const Feed& feed_;
  std::string where_;
  std::optional<uint64_t> size_;
  uint64_t total_ = 0;
};

// A compressed file is an archive of one member of unknown size in libarchive's eyes.
class DecompressStream final : public SequentialStream {
 public:
  DecompressStream(ByteStream& stored, FileKind kind, std::string where, Budget& budget)
      : feed_{stored}, kind_(kind), where_(std::move(where)), budget_(budget) {}

  std::optional<uint64_t> size() const override { return std::nullopt; }

 protected:
  Result<size_t> pull(uint8_t* out, size_t n) override {
    if (!content_) {
      if (auto ok = open(); !ok) return tl::unexpected(ok.error());
    }
    la_ssize_t got = archive_read_data(reader_.get(), out, n);
    if (got < 0) return tl::unexpected(reader_error(reader_.get(), feed_, where_));
    total_ += static_cast<uint64_t>(got);
    if (total_ > most_expanded(feed_.at) || !budget_.spend(static_cast<uint64_t>(got)))
      return fail(std::string(kBombText), where_);
    return static_cast<size_t>(got);
  }

 private:
  Result<void> open() {
    reader_.reset(archive_read_new());
    if (kind_ == FileKind::bzip2) archive_read_support_filter_bzip2(reader_.get());
    if (kind_ == FileKind::xz) archive_read_support_filter_xz(reader_.get());
    if (kind_ == FileKind::zstd) archive_read_support_filter_zstd(reader_.get());
    archive_read_support_format_raw(reader_.get());
    if (auto ok = start(reader_.get(), feed_, where_); !ok) return ok;
    archive_entry* entry = nullptr;
    if (archive_read_next_header(reader_.get(), &entry) < ARCHIVE_WARN)
      return tl::unexpected(reader_error(reader_.get(), feed_, where_));
    content_ = true;
    return {};
  }

  Feed feed_;
  FileKind kind_;
  std::string where_;
  Budget& budget_;
  Reader reader_;
  bool content_ = false;
  uint64_t total_ = 0;
};

// Some names exist in one encoding only.
std::string either(const char* plain, const char* utf8) {
  const char* text = plain ? plain : utf8;
  return text ? text : "";
}

ArchiveMember member_of(archive_entry* entry) {
  ArchiveMember member;
  member.name =
      without_root(either(archive_entry_pathname(entry), archive_entry_pathname_utf8(entry)));
  std::string hard = either(archive_entry_hardlink(entry), archive_entry_hardlink_utf8(entry));
  la_int64_t size = archive_entry_size(entry);
  member.size = size > 0 ? static_cast<uint64_t>(size) : 0;
  if (!hard.empty()) {
    member.type = MemberType::hard_link;
    member.target = without_root(hard);
    return member;
  }
  switch (archive_entry_filetype(entry)) {
  case AE_IFREG:
    member.type = MemberType::file;
    break;
  case AE_IFDIR:
    member.type = MemberType::folder;
    break;
  case AE_IFLNK:
    member.type = MemberType::symbolic_link;
    member.target = either(archive_entry_symlink(entry), archive_entry_symlink_utf8(entry));
    break;
  default:
    member.type = MemberType::other;
  }
  return member;
}

// tar, and cpio of the old kinds, whose lengths are small numbers.
Result<void> for_each_tar_member(ByteStream& stored, const std::string& where, Budget& budget,
                                 const VisitMember& visit) {
  Feed feed{stored};
  Reader reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_cpio(reader.get());
  if (auto ok = start(reader.get(), feed, where); !ok) return ok;
  for (uint64_t count = 0;; ++count) {
    archive_entry* entry = nullptr;
    int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) return {};
    if (status < ARCHIVE_WARN) return tl::unexpected(reader_error(reader.get(), feed, where));
    if (count >= limits::members)
      return fail("the archive has more than " + std::to_string(limits::members) + " members",
                  where);
    ArchiveMember member = member_of(entry);
    if (member.name.size() > limits::path_bytes)
      return fail("a member's name is longer than " + std::to_string(limits::path_bytes) + " bytes",
                  where);
    if (member.size > limits::member_bytes || !budget.spend(member.size))
      return fail(std::string(kBombText), where + "!" + member.name);
    MemberStream content(reader.get(), feed, where + "!" + member.name, member.size);
    if (visit(member, content) == Next::stop) return {};
  }
}

Result<void> for_each_deb_member(ByteStream& stored, const std::string& where, Budget& budget,
                                 const VisitMember& visit) {
  bool stopped = false;
  std::string problem = for_each_ar_member(stored, [&](const ArMember& part) {
    if (stopped || !budget.spend(part.size)) return;
    ArchiveMember member;
    member.name = part.name;
    member.size = part.size;
    PartStream content(stored, part.offset, part.size, where + "!" + part.name);
    stopped = visit(member, content) == Next::stop;
  });
  if (!problem.empty()) return fail(problem, where);
  return {};
}

Result<void> for_each_rpm_member(ByteStream& stored, const std::string& where, Budget& budget,
                                 const VisitMember& visit) {
  auto at = rpm_payload(stored, where);
  if (!at) return tl::unexpected(at.error());
  std::optional<uint64_t> size = stored.size();
  if (size && *size < *at) return fail("the rpm package is cut off", where);
  if (size) size = *size - *at;
  PartStream payload(stored, *at, size, where);
  auto head = payload.window(0, kKindBytes);
  if (!head) return tl::unexpected(head.error());
  FileKind kind = file_kind("", *head);
  if (!is_compressed(kind))
    return fail("the rpm package's payload is neither gzip, bzip2, xz nor zstd", where);
  auto cpio = decompress(payload, kind, where, budget);
  return for_each_newc_member(*cpio, where, budget, visit);
}

} // namespace

Result<void> for_each_member(ByteStream& archive, FileKind kind, const std::string& where,
                             Budget& budget, const VisitMember& visit) {
  if (kind == FileKind::deb) return for_each_deb_member(archive, where, budget, visit);
  if (kind == FileKind::rpm) return for_each_rpm_member(archive, where, budget, visit);
  if (kind == FileKind::cpio) {
    auto head = archive.window(0, kKindBytes);
    if (!head) return tl::unexpected(head.error());
    if (is_newc(*head)) return for_each_newc_member(archive, where, budget, visit);
  }
  return for_each_tar_member(archive, where, budget, visit);
}

std::string without_root(const std::string& name) {
  size_t from = 0;
  for (;;) {
    if (name.compare(from, 1, "/") == 0)
      from += 1;
    else if (name.compare(from, 2, "./") == 0)
      from += 2;
    else
      return name.substr(from);
  }
}

std::unique_ptr<ByteStream> decompress(ByteStream& stored, FileKind kind, const std::string& where,
                                       Budget& budget) {
  if (kind == FileKind::gzip) return gunzip(stored, where, budget);
  return std::make_unique<DecompressStream>(stored, kind, where, budget);
}

} // namespace gpuvet
