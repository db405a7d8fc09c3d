#include "facts/packed.hpp"

#include <fmt/core.h>

#include <charconv>

namespace gpuvet {
namespace {

// Cuts the part before `separator` (or all of it) off the front of `text`.
std::string_view cut(std::string_view& text, char separator) {
  size_t end = text.find(separator);
  std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

bool read_row(std::string_view line, PackedRow& row) {
  std::string_view number = cut(line, '\t');
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), row.line);
  if (error != std::errc() || end != number.data() + number.size()) return false;
  row.fields.reserve(12);
  while (!line.empty()) {
    std::string_view field = cut(line, '\t');
    std::string_view key = cut(field, '=');
    if (key.empty() || field.empty()) return false;
    row.fields.push_back({key, field[0], field.substr(1)});
  }
  return true;
}

} // namespace

Result<PackedFile> read_packed(std::string_view packed, std::string name) {
  PackedFile file{std::move(name), {}};
  auto damaged = [&] { return fail("the packed facts are damaged", file.name); };
  if (packed.substr(0, packed_magic.size()) != packed_magic) return damaged();
  packed.remove_prefix(packed_magic.size());
  while (!packed.empty()) {
    std::string_view line = cut(packed, '\n');
    std::string_view tag = cut(line, '\t');
    if (tag == "T") {
      file.tables.push_back({line, {}});
    } else if (tag == "R" && !file.tables.empty()) {
      PackedRow& row = file.tables.back().rows.emplace_back();
      if (!read_row(line, row)) return damaged();
    } else {
      return damaged();
    }
  }
  return file;
}

} // namespace gpuvet
