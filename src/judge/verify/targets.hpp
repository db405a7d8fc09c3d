// Rows of facts/verify.toml times GPUs, pairs and environments: each judged by its rule.
#pragma once

#include "judge/verify/seen/view.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpuvet {

// In the order of the rows, then GPU, then peer. What is required and was not measured is there,
// skipped, with the reason; of layers that nobody asked for only what was measured.
std::vector<JudgedStep> judge_targets(const VerifyCase& all, const std::set<std::string>& layers);

} // namespace gpuvet
