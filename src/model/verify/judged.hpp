// What a step of `verify` came to: its figure, what it is held against, and one sentence for
// whatever is not as it should be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class Verdict : uint8_t { pass, warn, fail, skipped, unknown, info };

// What is to be done with the machine.
enum class Action : uint8_t { none, monitor, reset, isolate, fix_software };

struct JudgedStep {
  std::string id, layer, title; // of the row in facts/verify.toml
  std::string step;      // of the StepResult that it judges; empty: none, it is about counters
  std::string gpu, peer; // as in the StepResult
  bool required = false; // without a verdict the run is incomplete
  std::string reading;   // that was judged: "rate"; empty: none
  Verdict verdict = Verdict::unknown;
  std::optional<double> value; // median of the reading
  std::string unit;
  std::optional<double> mad, least, most; // of the samples, same unit
  size_t samples = 0;
  std::optional<double> theoretical, limit; // what the hardware can do; what is asked for
  bool at_most = false;                     // the limit is not to be exceeded, else to be reached
  std::string limit_from;                   // how the limit was derived, with its numbers
  std::string why;                          // one sentence; empty only for pass and info
  std::string next;                         // one step to take; a command where there is one
  std::string follows;                      // id of the row that is the cause of this one
  Action action = Action::none;
  std::vector<std::string> evidence;
  std::vector<std::string> published; // "790 TFLOP/s (torch-performance-test-data)": of this model
};

const char* verdict_word(Verdict verdict); // "pass"
const char* action_word(Action action);    // "fix-software"

} // namespace gpuvet
