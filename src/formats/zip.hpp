// Zip archives: wheels, eggs, .conda packages, jars. The central directory at the end of the file
// says where each member is, so members are opened in any order and by several threads at once.
// Names are shown, compared and never used to write anything.
//
// A zip has two descriptions of each member, one in the directory and one in front of the data;
// damaged or crafted files let them differ. gpuvet believes the directory, as installers do, and
// refuses members where the two disagree on the name, or that share bytes with another.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "formats/byte_stream.hpp"
#include "formats/inflate.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpuvet {

struct ZipMember {
  std::string name;
  uint64_t header = 0;      // offset of the local header in the file
  uint64_t stored_size = 0; // compressed
  uint64_t size = 0;        // expanded
  uint32_t crc = 0;
  uint16_t method = 0; // 0 stored, 8 deflate
  uint16_t flags = 0;
  bool repeated = false; // an earlier member has the same name; installers keep the last
  std::string problem;   // why it can't be read, found in the directory; empty = none

  bool folder() const { return !name.empty() && name.back() == '/'; }
};

struct Zip {
  Bytes file;
  ReleaseBytes release;           // told what has been read, where set
  std::vector<ZipMember> members; // in the directory's order
};

// `file` must outlive the result; `where` is named in errors.
Result<Zip> read_zip(Bytes file, const std::string& where);

// The member's content. Stored members are views of the file. Safe to call from several threads.
Result<std::unique_ptr<ByteStream>> open_member(const Zip& zip, const ZipMember& member,
                                                const std::string& where);

} // namespace gpuvet
