// A facts file between its text and its rows.
//
// People edit TOML, but parsing the GPU table as TOML would cost more than the rest of a command.
// So the build turns every facts/NAME.toml into this packed text, which is embedded and read in one
// pass; `--facts DIR` packs at run time and goes the same way. There is one reader of rows.
//
//   gpuvet-facts 1
//   T <tab> gpu                                           a table
//   R <tab> 123 <tab> name=sNVIDIA H200 <tab> sm=n90      a row: its line in the TOML, then fields
//
// The letter after '=' is the kind: s text, n number, b true or false, l list (items end in 0x1f).
// Control characters never occur in facts, so nothing needs escaping.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct PackedField {
  std::string_view key;
  char kind = 's';
  std::string_view value;
};

struct PackedRow {
  uint32_t line = 0;
  std::vector<PackedField> fields;
};

struct PackedTable {
  std::string_view name;
  std::vector<PackedRow> rows;
};

// Views into the packed text: it must outlive them.
struct PackedFile {
  std::string name; // "gpus.toml", for messages
  std::vector<PackedTable> tables;
};

constexpr char packed_item_end = '\x1f';
constexpr std::string_view packed_magic = "gpuvet-facts 1\n";

Result<PackedFile> read_packed(std::string_view packed, std::string name);

// TOML to packed text. A facts file is a set of tables, each an array of flat rows. Errors name the
// file and the line.
Result<std::string> pack_toml(std::string_view text, const std::string& name);

// A settings file (gpuvet.toml) to the same packed text: a table for each [section], keys outside
// of sections in one without a name. Every value is a row of its own with its own line; a list is a
// row of kind l without items, then one row for each item.
Result<std::string> pack_settings(std::string_view text, const std::string& name);

} // namespace gpuvet
