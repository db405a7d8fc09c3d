// Typed reading of packed rows. A fact that is misspelt must not pass as "not established", so
// every key is claimed by exactly one reader and what is left over is an error with file and line.
#pragma once

#include "base/compute_capability.hpp"
#include "base/version.hpp"
#include "facts/packed.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuvet {

// One facts file being read: its rows, its table of sources, and the first thing that was wrong.
class FactFile {
 public:
  explicit FactFile(PackedFile file);

  const std::vector<PackedRow>& rows(std::string_view table); // empty when there is no such table
  std::string_view source(std::string_view key) const;        // empty: no such key

  void refuse(uint32_t line, std::string what);
  bool sound() const { return !error_; }
  // A table that nobody asked for is a spelling mistake.
  std::optional<Error> end();

 private:
  PackedFile file_;
  std::unordered_map<std::string_view, std::string_view> sources_;
  std::vector<std::string_view> asked_;
  std::optional<Error> error_;
};

class FactRow {
 public:
  FactRow(FactFile& file, const PackedRow& row) : file_(file), row_(row) {}

  std::string text(std::string_view key); // required
  std::string text_if(std::string_view key);
  std::optional<double> number_if(std::string_view key);
  std::optional<uint32_t> count_if(std::string_view key);
  uint32_t count(std::string_view key); // required, a whole number
  bool flag(std::string_view key, bool otherwise = false);
  Version version(std::string_view key);                // required
  std::vector<std::string> list(std::string_view key);  // empty when missing
  std::vector<std::string> texts(std::string_view key); // one text, or a list of them
  std::vector<uint32_t> counts(std::string_view key);
  std::vector<double> numbers(std::string_view key);
  std::optional<std::vector<Target>> targets_if(std::string_view key);
  std::vector<std::string> sources(); // required; full texts
  std::string source();               // the same, joined

  void refuse(std::string what);
  void end(); // no key may be left over

 private:
  const PackedField* take(std::string_view key, char kind);
  const PackedField* require(std::string_view key, char kind);

  FactFile& file_;
  const PackedRow& row_;
  uint64_t taken_ = 0;
};

} // namespace gpuvet
