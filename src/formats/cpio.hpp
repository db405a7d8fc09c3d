// cpio ("newc", what rpm and initramfs use) and the headers of an rpm package in front of it. Read
// here rather than by libarchive, which takes the 32-bit length of a member's name at its word and
// makes room for it.
#pragma once

#include "formats/archive.hpp"

namespace gpuvet {

bool is_newc(Bytes head);

Result<void> for_each_newc_member(ByteStream& archive, const std::string& where, Budget& budget,
                                  const VisitMember& visit);

// Where the compressed cpio of an rpm package begins: behind a lead and two headers.
Result<uint64_t> rpm_payload(ByteStream& package, const std::string& where);

} // namespace gpuvet
