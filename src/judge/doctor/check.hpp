// A check: a row of texts in facts/checks/AREA.toml plus a function that decides, from the machine
// alone, whether it fires. The function gives evidence and the fields that the row's texts name; it
// writes no sentences of its own beyond "why".
//
// Applicability comes before alarm: a check that does not bear on this machine says so and why.
// What it needs and was not seen makes it unknown, never ok.
#pragma once

#include "base/observed.hpp"
#include "facts/facts.hpp"
#include "model/machine.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

enum class Answer : uint8_t { ok, fires, unknown, not_applicable };

struct Outcome {
  Answer answer = Answer::unknown;
  // ok: what was seen, in a few words ("module and libraries are 580.65.06"). not_applicable and
  // unknown: why.
  std::string why = "not decided";
  std::vector<std::string> evidence;         // "FILE or call: value"
  std::map<std::string, std::string> fields; // for the row's {placeholders}
  std::string missing; // fires, but only likely: the fact that would make it certain
  // The row's severity, unless what was seen weighs differently.
  std::optional<Severity> severity;
};

inline Outcome ok(std::string why, std::vector<std::string> evidence = {}) {
  return {Answer::ok, std::move(why), std::move(evidence), {}, {}, {}};
}
inline Outcome not_applicable(std::string why) {
  return {Answer::not_applicable, std::move(why), {}, {}, {}, {}};
}
// `why` names the fact that is missing and, where there is one, the command that gets it.
inline Outcome not_known(std::string why) {
  return {Answer::unknown, std::move(why), {}, {}, {}, {}};
}
inline Outcome fires(std::vector<std::string> evidence,
                     std::map<std::string, std::string> fields = {}) {
  return {Answer::fires, {}, std::move(evidence), std::move(fields), {}, {}};
}
inline Outcome likely(Outcome outcome, std::string missing) {
  outcome.missing = std::move(missing);
  return outcome;
}

using CheckFunction = Outcome (*)(const Machine& machine, const Facts& facts);

struct CheckCode {
  std::string_view id;
  CheckFunction run = nullptr;
};

} // namespace gpuvet
