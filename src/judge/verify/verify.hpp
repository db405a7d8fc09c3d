// From what was measured to what it means: a row for each step with its limit, its ratio and its
// verdict, and a sentence for whatever is not as it should be. Pure: a saved run is judged again
// the same way.
#pragma once

#include "facts/facts.hpp"
#include "facts/verify/verify.hpp"
#include "model/report.hpp"
#include "model/verify/measurements.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpuvet {

enum class Verdict : uint8_t { pass, warn, fail, skipped, unknown, info };

// What is to be done with the machine.
enum class Action : uint8_t { none, monitor, reset, isolate, fix_software };

struct JudgedStep {
  std::string id, layer, title; // of the row in facts/verify.toml
  std::string gpu, peer;        // as in the StepResult
  std::string reading;          // that was judged: "rate"; empty: none
  Verdict verdict = Verdict::unknown;
  std::optional<double> value; // median of the reading
  std::string unit;
  std::optional<double> mad, least, most; // of the samples, same unit
  size_t samples = 0;
  std::optional<double> theoretical, limit; // what the hardware can do; what is asked for at least
  std::string limit_from;                   // how the limit was derived, with its numbers
  std::string why;                          // one sentence; empty only for pass and info
  std::string next;                         // one step to take; a command where there is one
  Action action = Action::none;
  std::vector<std::string> evidence;
};

struct VerifyPolicy {
  std::set<std::string> allowed_skips; // ids of steps
  bool strict = false;                 // a warning alone gives exit status 4
};

struct VerifyReport {
  std::vector<JudgedStep> steps; // in the order of facts/verify.toml, then GPU, then peer
  Report report;                 // verdict line, table, findings
  int exit_status = 3; // 0 pass, 1 fail, 3 incomplete, 4 warnings with strict, 130 interrupted
};

VerifyReport judge_verify(const Measurements& measured, const VerifyTables& tables,
                          const Facts& facts, const VerifyPolicy& policy);

// Two runs of one machine, or of two like ones: what became slower, and what changed around it.
Report compare_runs(const Measurements& before, const Measurements& now, const VerifyTables& tables,
                    const Facts& facts);

} // namespace gpuvet
