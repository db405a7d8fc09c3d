// Builds tar, cpio and ar archives for tests, compressed or not.
#pragma once

#include "formats/testing/zip_builder.hpp"

#include <zstd.h>

#include <bzlib.h>
#include <cstdio>
#include <lzma.h>
#include <string>
#include <vector>

namespace gpuvet::testing {

struct TarEntry {
  std::string name = {};
  std::string content = {};
  std::string hard_link = {};
  std::string symbolic_link = {};
  bool folder = false;
};

enum class Filter { none, gzip, bzip2, xz, zstd };
enum class Container { tar, cpio, ar };

inline void put_field(std::string& header, size_t at, const std::string& text) {
  header.replace(at, text.size(), text);
}

inline std::string octal(uint64_t value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
  return text;
}

inline void pad(std::string& archive, size_t to, char with = '\0') {
  while (archive.size() % to)
    archive += with;
}

inline std::string tar_header(const std::string& name, uint64_t size, char type,
                              const std::string& target = {}) {
  std::string header(512, '\0');
  put_field(header, 0, name.substr(0, 100));
  put_field(header, 100, "0000644");
  put_field(header, 108, "0000000");
  put_field(header, 116, "0000000");
  put_field(header, 124, octal(size, 11));
  put_field(header, 136, octal(1, 11));
  put_field(header, 148, "        ");
  header[156] = type;
  put_field(header, 157, target);
  put_field(header, 257,
            std::string("ustar\0"
                        "00",
                        8));
  uint64_t sum = 0;
  for (char c : header)
    sum += static_cast<unsigned char>(c);
  put_field(header, 148, octal(sum, 6) + std::string("\0 ", 2));
  return header;
}

// Names and link targets of more than 100 bytes get a pax header.
inline std::string make_tar(const std::vector<TarEntry>& entries) {
  std::string tar;
  for (const TarEntry& entry : entries) {
    char type = '0';
    if (entry.folder) type = '5';
    if (!entry.symbolic_link.empty()) type = '2';
    if (!entry.hard_link.empty()) type = '1';
    const std::string& target = entry.hard_link.empty() ? entry.symbolic_link : entry.hard_link;
    std::string extended;
    auto add = [&](const std::string& key, const std::string& value) {
      std::string rest = " " + key + "=" + value + "\n";
      size_t size = rest.size() + 2;
      while (std::to_string(size).size() + rest.size() != size)
        size = std::to_string(size).size() + rest.size();
      extended += std::to_string(size) + rest;
    };
    bool ascii = true;
    for (char c : entry.name)
      ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    if (entry.name.size() > 100 || !ascii) add("path", entry.name);
    if (target.size() > 100) add("linkpath", target);
    if (!extended.empty()) {
      tar += tar_header("PaxHeaders/x", extended.size(), 'x') + extended;
      pad(tar, 512);
    }
    tar += tar_header(entry.name, entry.content.size(), type, target.substr(0, 100));
    tar += entry.content;
    pad(tar, 512);
  }
  return tar + std::string(1024, '\0');
}

// The "newc" kind.
inline std::string make_cpio(std::vector<TarEntry> entries) {
  std::string cpio;
  entries.push_back({.name = "TRAILER!!!"});
  unsigned inode = 0;
  for (const TarEntry& entry : entries) {
    unsigned mode = entry.folder ? 040755 : entry.symbolic_link.empty() ? 0100644 : 0120777;
    const std::string& content = entry.symbolic_link.empty() ? entry.content : entry.symbolic_link;
    char header[120];
    std::snprintf(header, sizeof header,
                  "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", ++inode, mode, 0u,
                  0u, 1u, 1u, static_cast<unsigned>(content.size()), 0u, 0u, 0u, 0u,
                  static_cast<unsigned>(entry.name.size() + 1), 0u);
    cpio += header + entry.name + '\0';
    pad(cpio, 4);
    cpio += content;
    pad(cpio, 4);
  }
  return cpio;
}

inline std::string make_ar(const std::vector<TarEntry>& entries) {
  std::string ar = "!<arch>\n";
  for (const TarEntry& entry : entries) {
    char header[64];
    std::snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", entry.name.c_str(), 1,
                  0, 0, "100644", entry.content.size());
    ar += header + entry.content;
    pad(ar, 2, '\n');
  }
  return ar;
}

inline std::string compress(const std::string& content, Filter filter) {
  std::string out(content.size() + content.size() / 8 + 4096, '\0');
  switch (filter) {
  case Filter::none:
    return content;
  case Filter::gzip:
    return gzip(content);
  case Filter::bzip2: {
    auto size = static_cast<unsigned>(out.size());
    BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(content.data()),
                             static_cast<unsigned>(content.size()), 1, 0, 0);
    out.resize(size);
    break;
  }
  case Filter::xz: {
    size_t size = 0;
    lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                            reinterpret_cast<const uint8_t*>(content.data()), content.size(),
                            reinterpret_cast<uint8_t*>(out.data()), &size, out.size());
    out.resize(size);
    break;
  }
  case Filter::zstd:
    out.resize(ZSTD_compress(out.data(), out.size(), content.data(), content.size(), 1));
  }
  return out;
}

inline std::string make_archive(const std::vector<TarEntry>& entries, Filter filter = Filter::none,
                                Container container = Container::tar) {
  if (container == Container::cpio) return compress(make_cpio(entries), filter);
  if (container == Container::ar) return compress(make_ar(entries), filter);
  return compress(make_tar(entries), filter);
}

} // namespace gpuvet::testing
