// The possible causes of one message, weighed. Internal to judge/explain.
#pragma once

#include "judge/explain/explain.hpp"

#include <set>

namespace gpuvet {

struct Surround { // of one message
  const SignatureTables* signatures = nullptr;
  const CheckTables* checks = nullptr;
  const Facts* facts = nullptr;
  const FactView* known = nullptr;
  const std::map<std::string, std::string>* words = nullptr; // facts by name, for texts
  const MessageFinder* text = nullptr;
  const Diagnosis* doctor = nullptr;
  const Diagnosis* text_machine = nullptr;
  const OomTables* memory = nullptr;
  const OomEvidence* memory_seen = nullptr; // null: nothing tells of memory that ran out
};

// The row of a check or cause; null: there is no such id.
const CheckRow* find_cause(const std::string& id, const CheckTables& checks,
                           const SignatureTables& signatures);

ExplainedMessage weigh_causes(const Message& message, const Surround& around);

// Facts by name, for texts: "{nvcc.version}". Of several values none is told.
std::map<std::string, std::string> fact_words(const SignatureTables& tables, const FactView& known);

// The words that a fix's `on` may name and that the facts make true; empty: nothing is known.
std::set<std::string> system_tags(const FactView& known);

} // namespace gpuvet
