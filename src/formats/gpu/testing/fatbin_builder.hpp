// Builds fat binaries byte by byte for tests, sound or broken on purpose.
#pragma once

#include "formats/gpu/fatbin.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace gpuvet::testing {

inline void put(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> (8 * i) & 0xff);
}

struct EntrySpec {
  uint16_t kind = 2;
  uint32_t sm = 90;
  uint64_t flags = 0x11;
  std::string payload = std::string("\x7f"
                                    "ELF",
                                    4) +
                        std::string(60, '\0');
  uint16_t major = 1, minor = 7;
  uint32_t compressed_size = 0;
  uint64_t raw_size = 0;
  std::string name;
};

inline std::string entry(const EntrySpec& spec) {
  std::string payload = spec.payload;
  payload.resize((payload.size() + 7) / 8 * 8, '\0');
  std::string name = spec.name.empty() ? "" : spec.name + '\0';
  name.resize((name.size() + 7) / 8 * 8, '\0');
  std::string out;
  put(out, spec.kind, 2);
  put(out, 0x0101, 2);
  put(out, kEntryHeader + name.size(), 4);
  put(out, payload.size(), 8);
  put(out, spec.compressed_size, 4);
  put(out, 0, 4);
  put(out, spec.minor, 2);
  put(out, spec.major, 2);
  put(out, spec.sm, 4);
  put(out, spec.name.empty() ? 0 : kEntryHeader, 4);
  put(out, spec.name.size(), 4);
  put(out, spec.flags, 8);
  put(out, 0, 8);
  put(out, spec.raw_size, 8);
  return out + name + payload;
}

inline std::string container_header(uint64_t body, uint16_t version = 1, uint16_t size = 16) {
  std::string out;
  put(out, kContainerMagic, 4);
  put(out, version, 2);
  put(out, size, 2);
  put(out, body, 8);
  out.resize(size, '\0');
  return out;
}

inline std::string fatbin(const std::vector<std::string>& entries) {
  std::string body;
  for (const std::string& one : entries)
    body += one;
  return container_header(body.size()) + body;
}

} // namespace gpuvet::testing
