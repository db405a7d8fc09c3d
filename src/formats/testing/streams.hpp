// Reading whole streams in tests, and leaves as text.
#pragma once

#include "formats/unpack.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuvet::testing {

inline Result<std::string> read_all(ByteStream& stream, size_t piece = 1000) {
  std::string text;
  for (;;) {
    auto bytes = stream.window(text.size(), piece);
    if (!bytes) return tl::unexpected(bytes.error());
    text += bytes->text();
    if (bytes->size() < piece) return text;
  }
}

// Pseudo-random bytes that deflate to about half: each is one of 16 values.
inline std::string noise(size_t n, uint32_t seed = 1) {
  std::string text(n, '\0');
  for (char& c : text) {
    seed = seed * 1664525u + 1013904223u;
    c = static_cast<char>('a' + (seed >> 28));
  }
  return text;
}

// An ELF by its magic, different for each tag; enough for unpacking, which looks no further.
inline std::string elf(const std::string& tag) {
  return "\x7f"
         "ELF " +
         tag;
}

struct Leaves {
  std::map<std::string, std::string> files; // path -> content
  std::vector<std::string> errors;          // where: what

  LeafSink sink() {
    return {[this](const std::string& path, ByteStream& content) {
              auto text = read_all(content);
              if (text)
                files[path] = *text;
              else
                errors.push_back(text.error().where + ": " + text.error().what);
            },
            [this](Error error) { errors.push_back(error.where + ": " + error.what); }};
  }
  bool has_error(std::string_view part) const {
    for (const std::string& error : errors)
      if (error.find(part) != std::string::npos) return true;
    return false;
  }
};

} // namespace gpuvet::testing
