// Asks one check of a machine and holds its answer against its row.
#pragma once

#include "base/fill_text.hpp"
#include "judge/checks/testing/machines.hpp"
#include "judge/doctor/diagnose.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {

inline Outcome ask(std::string_view id, const Machine& machine) {
  return ask(check_functions(), id, machine);
}

inline const CheckRow& row(std::string_view id) {
  auto tables = facts().checks();
  if (!tables) throw std::runtime_error(tables.error().where + ": " + tables.error().what);
  for (const CheckRow& each : (*tables)->checks)
    if (each.id == id) return each;
  throw std::runtime_error(fmt::format("there is no row {}", id));
}

// Does it fire, with evidence and all that title and cause name, and is there a way out unless the
// finding is for information only?
inline ::testing::AssertionResult fires(std::string_view id, const Machine& machine) {
  Outcome outcome = ask(id, machine);
  if (outcome.answer != Answer::fires)
    return ::testing::AssertionFailure() << id << " does not fire: " << outcome.why;
  const CheckRow& texts = row(id);
  std::string words = fill_in(texts.title + "\n" + texts.cause, outcome.fields);
  if (words.find("(unknown ") != std::string::npos)
    return ::testing::AssertionFailure() << id << ": " << words;
  if (outcome.evidence.empty()) return ::testing::AssertionFailure() << id << ": no evidence";
  for (const std::string& line : outcome.evidence)
    if (line.empty()) return ::testing::AssertionFailure() << id << ": empty evidence";
  bool way_out = texts.fixes.empty() && outcome.severity.value_or(texts.severity) == Severity::info;
  for (const CheckFix& fix : texts.fixes)
    way_out |= can_fill(first_choices(fix.command), outcome.fields);
  if (!way_out) return ::testing::AssertionFailure() << id << ": no way out has all its fields";
  return ::testing::AssertionSuccess() << words;
}

inline ::testing::AssertionResult answers(std::string_view id, const Machine& machine,
                                          Answer wanted) {
  Outcome outcome = ask(id, machine);
  if (outcome.answer == wanted && !outcome.why.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << id << " answers " << static_cast<int>(outcome.answer) << ": "
         << (outcome.evidence.empty() ? outcome.why : outcome.evidence.front());
}

inline ::testing::AssertionResult is_ok(std::string_view id, const Machine& machine) {
  return answers(id, machine, Answer::ok);
}
inline ::testing::AssertionResult is_none(std::string_view id, const Machine& machine) {
  return answers(id, machine, Answer::not_applicable);
}
inline ::testing::AssertionResult is_unknown(std::string_view id, const Machine& machine) {
  return answers(id, machine, Answer::unknown);
}

} // namespace gpuvet::testing
