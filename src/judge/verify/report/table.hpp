// The tables of a report: a row for each figure, of several like GPUs the worst and the spread.
#pragma once

#include "judge/verify/seen/view.hpp"
#include "model/report.hpp"

#include <vector>

namespace gpuvet {

State state_of(Verdict verdict);
int gravity(Verdict verdict); // higher is worse; skipped and unknown lie above a warning

// By model, then between GPUs, then of the machine and of its environments.
std::vector<Table> verify_tables_of(const VerifyCase& all, const std::vector<JudgedStep>& steps);

// What others published about the same models; without rows when nothing is.
Table published_table(const VerifyCase& all, const std::vector<JudgedStep>& steps);

} // namespace gpuvet
