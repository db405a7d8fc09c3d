// A check as a report for a person.
#pragma once

#include "judge/policy/check.hpp"
#include "model/report.hpp"

namespace gpuvet {

Report check_report(const PolicyCheck& result, const std::vector<ErrorCode>& errors);

// What an artefact's shortcoming is about, line by line: the file, the fat binaries, the kernels,
// the error that the program sees. For the report, JUnit and SARIF alike.
std::vector<std::string> evidence_of(const PolicyRequirement& requirement,
                                     const CheckedRequirement& checked,
                                     const std::vector<ErrorCode>& errors);

} // namespace gpuvet
