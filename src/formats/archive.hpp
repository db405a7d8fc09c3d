// Archives and compressed files that are read from front to back: tar, cpio, ar as used by .deb,
// rpm; gzip, bzip2, xz, zstd. libarchive decodes them (gzip apart, where ISA-L is faster); this
// header is all the rest of gpuvet sees of it.
#pragma once

#include "formats/byte_stream.hpp"
#include "formats/file_kind.hpp"
#include "formats/unpack_limits.hpp"

#include <functional>
#include <memory>
#include <string>

namespace gpuvet {

enum class MemberType { file, hard_link, symbolic_link, folder, other };

struct ArchiveMember {
  std::string name; // as written in the archive, but for a leading "./" or "/"
  MemberType type = MemberType::file;
  std::string target; // of either kind of link
  uint64_t size = 0;
};

enum class Next { member, stop };

// `content` is the member's bytes; what is left unread is skipped.
using VisitMember = std::function<Next(const ArchiveMember& member, ByteStream& content)>;

// Kinds tar, cpio, deb and rpm. On an error the members before it have been visited.
Result<void> for_each_member(ByteStream& archive, FileKind kind, const std::string& where,
                             Budget& budget, const VisitMember& visit);

// "./usr/lib" and "/usr/lib" -> "usr/lib".
std::string without_root(const std::string& name);

// The one file inside a compressed file (is_compressed(kind)). References must outlive the result.
std::unique_ptr<ByteStream> decompress(ByteStream& stored, FileKind kind, const std::string& where,
                                       Budget& budget);

} // namespace gpuvet
