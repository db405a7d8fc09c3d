// Static archives (ar): "!<arch>\n", then members with 60-byte headers, aligned to 2 bytes. Long
// names stand in a member "//" (GNU) or before the data ("#1/N", BSD). A thin archive ("!<thin>\n")
// holds only names: its members are files beside it.
#pragma once

#include "formats/byte_stream.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuvet {

struct ArMember {
  std::string name;
  uint64_t offset = 0; // of the data, in the archive
  uint64_t size = 0;   // bytes
};

// Calls `visit` for each object, in order, symbol tables left out. Empty, or what is damaged and
// where; the members before the damage have been visited.
std::string for_each_ar_member(ByteStream& stream,
                               const std::function<void(const ArMember&)>& visit);

// Paths named by a thin archive, as written there (relative to the archive's folder).
Result<std::vector<std::string>> thin_archive_members(ByteStream& stream);

} // namespace gpuvet
