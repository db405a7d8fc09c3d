// How long each step of verify may measure. The short ones are the same in every run; those under
// load share what is left of the time that the user gives.
#pragma once

#include "facts/verify/verify.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct RunSize {
  bool quick = false;
  double seconds = 120;       // for everything
  size_t gpus = 1, pairs = 0; // ordered pairs
  bool stress = true;         // the layer is asked for
  bool self_test = false;     // the long form of it, and nothing else
};

struct StepTime {
  std::string step;
  double seconds = 0; // 0: left out of this run
};

// For every step that takes time. The sum, with what runs one after the other counted once for each
// GPU or pair, does not exceed `seconds` unless the shortest useful times do.
std::vector<StepTime> plan_times(const VerifyTables& tables, const RunSize& size);

double seconds_of(const std::vector<StepTime>& times, const std::string& step); // 0: not planned

} // namespace gpuvet
