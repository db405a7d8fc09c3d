// The doctor: runs every check, hides consequences under their cause, and joins causes with the
// symptoms that were seen. Pure: the same machine and facts always give the same diagnosis.
#pragma once

#include "base/result.hpp"
#include "judge/doctor/check.hpp"
#include "model/report.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpuvet {

struct Fix {
  std::string text; // a command line, or a step in words
  bool prose = false;
  Safety safety = Safety::safe;
};

struct CheckResult {
  const CheckRow* row = nullptr;
  Outcome outcome;
  State state = State::unknown;
  Severity severity = Severity::info; // when it fires
  std::string title, cause;           // with the fields filled in
  std::vector<Fix> fixes;             // for this machine, best first
  std::string hidden_by;              // id of the cause that it is a consequence of
  std::vector<std::string> explains;  // titles of symptoms that were seen
};

// A symptom that was seen: the error code of a call, a count that does not add up.
struct SeenSymptom {
  std::string id;
  std::vector<std::string> evidence;
};

struct SymptomResult {
  const Symptom* symptom = nullptr;
  std::vector<std::string> evidence;
  std::vector<size_t> causes; // checks that fire, indices into Diagnosis::checks
  std::vector<size_t> open;   // checks that could not be decided
};

struct Diagnosis {
  std::vector<CheckResult> checks; // in the order of the tables
  std::vector<SymptomResult> symptoms;
  std::vector<size_t> causes;            // checks that fire and are no consequence, worst first
  std::vector<std::string> not_finished; // probes that the deadline cut short
};

// `areas`: only these; empty: all. Errors: damaged fact tables.
Result<Diagnosis> diagnose(const Machine& machine, const Facts& facts,
                           const std::set<std::string>& areas = {});

// What the machine's answers show, whatever the cause.
std::vector<SeenSymptom> seen_symptoms(const Machine& machine);

// Text with {name} replaced by fields; a field that is missing stands as "an unknown NAME".
std::string fill_in(const std::string& text, const std::map<std::string, std::string>& fields);

// Display and 3D controllers of NVIDIA on the PCI bus.
std::vector<const PciFunction*> pci_gpus(const Machine& machine);

std::string severity_name(Severity severity); // "blocker"
State state_of(Severity severity);

} // namespace gpuvet
