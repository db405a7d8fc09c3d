// A sentence for whatever is not as it should be.
#pragma once

#include "judge/verify/seen/view.hpp"
#include "model/report.hpp"

#include <string>
#include <vector>

namespace gpuvet {

std::string title_text(const VerifyCase& all, const JudgedStep& step); // "copy to GPU, GPU 3"

// Failures first; what follows from another is told with that one.
void add_findings(const VerifyCase& all, const std::vector<JudgedStep>& steps, Report& report);

} // namespace gpuvet
