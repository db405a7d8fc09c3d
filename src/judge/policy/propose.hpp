// A policy proposed from machines that are there: their GPUs, the oldest of their drivers.
#pragma once

#include "facts/facts.hpp"
#include "model/machine.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct FleetMachine {
  std::string name; // file of the snapshot, or "this machine"
  Machine machine;
};

// Text of a gpuvet.toml with comments. What is not known stands there as a comment with the reason.
// Errors: no GPU is known on any of them.
Result<std::string> propose_policy(const std::vector<FleetMachine>& fleet, const Facts& facts);

} // namespace gpuvet
