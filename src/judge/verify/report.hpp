// What a person reads: the verdict with its one cause and one command, tables, and a sentence for
// whatever is not as it should be.
#pragma once

#include "judge/verify/verify.hpp"
#include "judge/verify/view.hpp"

namespace gpuvet {

Report verify_report(const VerifyCase& all, const std::vector<JudgedStep>& steps,
                     const VerifyPolicy& policy, int exit_status);

} // namespace gpuvet
