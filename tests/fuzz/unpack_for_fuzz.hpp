// Unpacks hostile bytes as if the user had named a file of this name; leaves are read in part.
#pragma once

#include "formats/unpack.hpp"

inline void unpack_for_fuzz(const char* name, const uint8_t* data, size_t size) {
  gpuvet::LeafSink sink;
  sink.leaf = [](const std::string&, gpuvet::ByteStream& content) {
    for (uint64_t at = 0; at < (1 << 20); at += 60'000) {
      auto bytes = content.window(at, 65'536);
      if (!bytes || bytes->empty()) break;
    }
  };
  sink.error = [](const gpuvet::Error&) {};
  gpuvet::UnpackJob job{name, gpuvet::Wanted::named, [] {
                          return gpuvet::Result<std::unique_ptr<gpuvet::SpoolFile>>(
                              gpuvet::fail("no temporary files here"));
                        }};
  gpuvet::MemoryStream content{gpuvet::Bytes(data, size)};
  gpuvet::unpack(job, content, sink);
}
