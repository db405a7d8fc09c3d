// Rows of facts/verify.toml times GPUs, pairs and environments: each judged by its rule.
#pragma once

#include "judge/verify/view.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpuvet {

// In the order of the rows, then GPU, then peer. What is required and was not measured is there,
// skipped, with the reason; of layers that nobody asked for only what was measured.
std::vector<JudgedStep> judge_targets(const VerifyCase& all, const std::set<std::string>& layers);

// A GPU that cannot be used at all is not proved by what ran on it afterwards.
void stop_after_device_layer(std::vector<JudgedStep>& steps);

// What a detector could not see is not proved either.
void void_by_detectors(const VerifyCase& all, std::vector<JudgedStep>& steps);

// Which of them follows from which.
void find_causes(const VerifyCase& all, std::vector<JudgedStep>& steps);

} // namespace gpuvet
