// What a person reads: the verdict with its one cause and one command, tables, and a sentence for
// whatever is not as it should be.
#pragma once

#include "judge/verify/seen/view.hpp"
#include "judge/verify/verify.hpp"

namespace gpuvet {

Report verify_report(const VerifyCase& all, const std::vector<JudgedStep>& steps,
                     const VerifyPolicy& policy, int exit_status);

} // namespace gpuvet
