// From load trees to a verdict: is everything found, does it fit together, and what mends it.
#pragma once

#include "judge/ldd/ldd_result.hpp"
#include "model/report.hpp"

#include <vector>

namespace gpuvet {

// Faults first.
std::vector<Finding> ldd_findings(const LddSubject& subject);

Report ldd_report(const LddResult& result);

} // namespace gpuvet
