// Texts as tests give them: lines, and the facts that come out.
#pragma once

#include "facts/facts.hpp"
#include "judge/texts/facts_in_text.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet::testing {

inline const TextTables& text_tables() {
  static const Facts facts;
  static const auto tables = facts.texts();
  if (!tables) throw std::runtime_error(tables.error().where + ": " + tables.error().what);
  return **tables;
}

inline FactsInText read_lines(std::string_view text) {
  FactsInText reader(text_tables());
  uint64_t number = 0;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    reader.line(text.substr(0, end), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader;
}

// "name=value", sorted; with "(said)" behind what a person said.
inline std::vector<std::string> shown(const std::vector<KnownFact>& facts) {
  std::vector<std::string> all;
  for (const KnownFact& fact : facts)
    all.push_back(fact.name + "=" + fact.value + (only_said(fact) ? " (said)" : ""));
  std::sort(all.begin(), all.end());
  return all;
}

inline std::vector<std::string> facts_of(std::string_view text) {
  return shown(read_lines(text).facts());
}

// The values of one name, in the order of the lines.
inline std::vector<std::string> values(std::string_view text, std::string_view name) {
  std::vector<std::string> found;
  FactsInText reader = read_lines(text);
  for (const KnownFact& fact : reader.facts())
    if (fact.name == name) found.push_back(fact.value);
  return found;
}

} // namespace gpuvet::testing
