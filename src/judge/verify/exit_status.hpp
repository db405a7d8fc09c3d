// One number for a whole run.
#pragma once

#include "judge/verify/verify.hpp"

namespace gpuvet {

// Without a verdict although one is required, and not allowed to be.
bool is_incomplete(const JudgedStep& step, const VerifyPolicy& policy);

// 130 interrupted; else 1 a failure, 3 a required verdict is missing or nothing passed, 4 warnings
// with `strict`, 0. The first that holds.
int verify_exit_status(const std::vector<JudgedStep>& steps, const VerifyPolicy& policy,
                       bool interrupted);

} // namespace gpuvet
