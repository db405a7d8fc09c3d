// Texts to evidence and reports, for tests.
#pragma once

#include "base/text.hpp"
#include "facts/facts.hpp"
#include "judge/oom/oom.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace gpuvet::testing {

inline const OomTables& oom_tables() {
  static const Facts facts;
  auto tables = facts.oom();
  if (!tables) throw std::runtime_error(tables.error().where + ": " + tables.error().what);
  return **tables;
}

inline const OomGrammar& oom_grammar() {
  static const OomGrammar grammar = [] {
    auto made = compile_oom(oom_tables());
    if (!made) throw std::runtime_error(made.error().where + ": " + made.error().what);
    return std::move(*made);
  }();
  return grammar;
}

inline OomEvidence oom_evidence(std::string_view text) {
  OomReader reader(oom_grammar());
  uint64_t number = 0;
  for (const std::string& line : split_at(text, '\n'))
    reader.take(line, ++number);
  return reader.end();
}

// What was concluded, in a form that a test can state: "certain software-cap, likely too-small".
inline std::string conclusion(std::string_view text) {
  const OomEvidence evidence = oom_evidence(text);
  const OomReport report = judge_oom(evidence, oom_tables());
  std::string words;
  for (const OomVerdict& verdict : report.verdicts)
    words += (words.empty() ? "" : ", ") + std::string(sureness_word(verdict.sureness)) + " " +
             verdict.cause->id;
  return words.empty() ? "none" : words;
}

} // namespace gpuvet::testing
