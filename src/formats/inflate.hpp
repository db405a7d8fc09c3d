// Deflate, the compression of zip members and of .gz, decoded as a stream. The output goes straight
// into the stream's window, so memory stays at a few MiB whatever the member's size.
#pragma once

#include "formats/byte_stream.hpp"
#include "formats/unpack_limits.hpp"

#include <functional>
#include <memory>
#include <string>

namespace gpuvet {

// What a zip directory promises about a member; checked while reading. A mismatch of the checksum
// is an error at the member's end, so a reader that stops early does not pay for the rest.
struct InflatePromise {
  uint64_t size = 0;
  uint32_t crc = 0;
};

// Told which stored bytes have been read, so that the owner of a mapped file can let go of its
// pages: a wheel is larger than the memory that a scan may take.
using ReleaseBytes = std::function<void(Bytes)>;

// One raw deflate stream in memory. `name` appears in errors. Keeps the view, not a copy. `release`
// may be empty.
std::unique_ptr<ByteStream> inflate_member(Bytes stored, InflatePromise promise, std::string name,
                                           ReleaseBytes release = {});

// A gzip file, read from another stream; several members are joined, as gzip does. Checksums are
// verified. Both references must outlive the result.
std::unique_ptr<ByteStream> gunzip(ByteStream& stored, std::string name, Budget& budget);

} // namespace gpuvet
