// Is a condition of a candidate true? What is not known makes it neither.
#pragma once

#include "judge/doctor/diagnose.hpp"
#include "judge/explain/fact_view.hpp"
#include "judge/explain/messages.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuvet {

struct Evidence {
  const std::map<std::string, std::string>* fields = nullptr; // of the message, derived ones too
  const FactView* facts = nullptr;
  const MessageFinder* text = nullptr; // what was found in all of it
  const Diagnosis* doctor = nullptr;   // of this machine; null: not asked
  std::string_view line;               // of the message
};

enum class Truth : uint8_t { no, yes, unknown };

struct ConditionAnswer {
  Truth truth = Truth::unknown;
  std::string shown;        // what decided, for a person; empty: the message itself
  std::string missing_fact; // unknown: this fact would decide; empty: none
  bool hearsay = false;     // rests on what a person said
};

ConditionAnswer judge_condition(const Condition& condition, const Evidence& evidence);

const CheckResult* find_check(const Diagnosis* doctor, const std::string& id); // null: not asked

} // namespace gpuvet
