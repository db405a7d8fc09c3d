// The rows of facts/oom.toml, compiled: patterns whose named groups can be found again in the text.
#pragma once

#include "base/literal_set.hpp"
#include "base/regex.hpp"
#include "facts/oom/oom.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// One match: each named group that took part, with its place in the text.
struct OomGroup {
  std::string_view name, text;
  size_t at = 0; // in the text that was searched
};

class OomPattern {
 public:
  // Errors: a sentence with what is wrong with the pattern.
  static Result<OomPattern> compile(const std::string& pattern, std::string literal);

  const std::string& literal() const { return literal_; }
  bool may_match(std::string_view text) const {
    return text.find(literal_) != std::string_view::npos;
  }
  bool found_in(std::string_view text) const { return may_match(text) && regex_.found_in(text); }
  // Calls `use` for each match, first to last, with the place where it begins.
  using Use = std::function<void(size_t at, const std::vector<OomGroup>& groups)>;
  void each(std::string_view text, const Use& use) const;

 private:
  OomPattern(Regex regex, std::vector<std::string> names, std::string literal)
      : regex_(std::move(regex)), names_(std::move(names)), literal_(std::move(literal)) {}

  Regex regex_;
  std::vector<std::string> names_; // by number of the group; empty: has none
  std::string literal_;
};

struct OomGrammar {
  struct Opening {
    OomPattern pattern;
    std::vector<size_t> templates; // that begin so, in their order
  };
  const OomTables* tables = nullptr;
  std::vector<Opening> openings;
  std::vector<OomPattern> marks;  // of each template; an empty pattern matches always
  std::vector<OomPattern> fields; // of each field row
  std::vector<OomPattern> nots;   // of each row
  std::vector<OomPattern> series; // of each row
  std::vector<OomPattern> keys;   // of each series row; one that is empty is not asked
  std::vector<OomPattern> axes;   // of each row

  // Literals of openings, nots and series, in this order: which of them a line has is found at
  // once, for a hostile log has many in each line.
  std::optional<LiteralSet> literals;
};

// `tables` must outlive the grammar. Errors: the first pattern that is none.
Result<OomGrammar> compile_oom(const OomTables& tables);

} // namespace gpuvet
