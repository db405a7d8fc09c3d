// Builds zip files for tests, sound ones and, by changing an entry or the bytes, damaged ones.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace gpuvet::testing {

struct ZipEntry {
  std::string name;
  std::string content;
  uint16_t method = 8;
  uint16_t flags = 0;
  bool zip64 = false;          // sizes and offset in the zip64 field
  std::string local_name = {}; // when it shall differ
  uint32_t crc_error = 0;      // added to the right checksum
  uint64_t claimed_size = 0;   // instead of the real one, when not 0
};

template <class T> void put(std::string& to, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  to.append(raw, sizeof(T));
}

inline std::string deflate_raw(const std::string& content) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, content.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

inline std::string gzip(const std::string& content) {
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  out += deflate_raw(content);
  put(out, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(content.data()),
                                       static_cast<uInt>(content.size()))));
  put(out, static_cast<uint32_t>(content.size()));
  return out;
}

// With a data descriptor (flag bit 3) the local header carries zeros, as streaming writers do.
inline std::string make_zip(const std::vector<ZipEntry>& entries, bool zip64_end = false,
                            const std::string& comment = {}, const std::string& prefix = {}) {
  std::string file = prefix;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    std::string stored = entry.method == 8 ? deflate_raw(entry.content) : entry.content;
    uint64_t size = entry.claimed_size ? entry.claimed_size : entry.content.size();
    auto crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
                                           static_cast<uInt>(entry.content.size()))) +
               entry.crc_error;
    uint64_t offset = file.size() - prefix.size();
    bool descriptor = entry.flags & 8;
    const std::string& local_name = entry.local_name.empty() ? entry.name : entry.local_name;
    put<uint32_t>(file, 0x04034b50);
    put<uint16_t>(file, 45);
    put<uint16_t>(file, entry.flags);
    put<uint16_t>(file, entry.method);
    put<uint32_t>(file, 0); // time
    put<uint32_t>(file, descriptor ? 0 : crc);
    put<uint32_t>(file, descriptor ? 0 : static_cast<uint32_t>(stored.size()));
    put<uint32_t>(file, descriptor ? 0 : static_cast<uint32_t>(size));
    put<uint16_t>(file, static_cast<uint16_t>(local_name.size()));
    put<uint16_t>(file, 0);
    file += local_name + stored;
    if (descriptor) {
      put<uint32_t>(file, 0x08074b50);
      put<uint32_t>(file, crc);
      put<uint32_t>(file, static_cast<uint32_t>(stored.size()));
      put<uint32_t>(file, static_cast<uint32_t>(size));
    }
    std::string extra;
    if (entry.zip64) {
      put<uint16_t>(extra, 1);
      put<uint16_t>(extra, 24);
      put<uint64_t>(extra, size);
      put<uint64_t>(extra, stored.size());
      put<uint64_t>(extra, offset);
    }
    put<uint32_t>(directory, 0x02014b50);
    put<uint32_t>(directory, 45 | 45 << 16);
    put<uint16_t>(directory, entry.flags);
    put<uint16_t>(directory, entry.method);
    put<uint32_t>(directory, 0);
    put<uint32_t>(directory, crc);
    put<uint32_t>(directory, entry.zip64 ? UINT32_MAX : static_cast<uint32_t>(stored.size()));
    put<uint32_t>(directory, entry.zip64 ? UINT32_MAX : static_cast<uint32_t>(size));
    put<uint16_t>(directory, static_cast<uint16_t>(entry.name.size()));
    put<uint16_t>(directory, static_cast<uint16_t>(extra.size()));
    put<uint16_t>(directory, 0);
    put<uint32_t>(directory, 0);
    put<uint32_t>(directory, 0);
    put<uint32_t>(directory, entry.zip64 ? UINT32_MAX : static_cast<uint32_t>(offset));
    directory += entry.name + extra;
  }
  uint64_t directory_at = file.size() - prefix.size();
  file += directory;
  if (zip64_end) {
    uint64_t end_at = file.size() - prefix.size();
    put<uint32_t>(file, 0x06064b50);
    put<uint64_t>(file, 44);
    put<uint32_t>(file, 45 | 45 << 16);
    put<uint32_t>(file, 0);
    put<uint32_t>(file, 0);
    put<uint64_t>(file, entries.size());
    put<uint64_t>(file, entries.size());
    put<uint64_t>(file, directory.size());
    put<uint64_t>(file, directory_at);
    put<uint32_t>(file, 0x07064b50);
    put<uint32_t>(file, 0);
    put<uint64_t>(file, end_at);
    put<uint32_t>(file, 1);
  }
  put<uint32_t>(file, 0x06054b50);
  put<uint32_t>(file, 0);
  put<uint16_t>(file, zip64_end ? UINT16_MAX : static_cast<uint16_t>(entries.size()));
  put<uint16_t>(file, zip64_end ? UINT16_MAX : static_cast<uint16_t>(entries.size()));
  put<uint32_t>(file, zip64_end ? UINT32_MAX : static_cast<uint32_t>(directory.size()));
  put<uint32_t>(file, zip64_end ? UINT32_MAX : static_cast<uint32_t>(directory_at));
  put<uint16_t>(file, static_cast<uint16_t>(comment.size()));
  return file + comment;
}

} // namespace gpuvet::testing
