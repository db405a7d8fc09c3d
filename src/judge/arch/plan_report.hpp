// A plan as a report for people: the list first, which GPU runs how, what each entry is for and
// costs. The lines to paste are apart (plan_lines): they must not be broken.
#pragma once

#include "judge/arch/plan.hpp"
#include "judge/arch/shell.hpp"
#include "judge/arch/sizes.hpp"
#include "model/report.hpp"

namespace gpuvet {

Report plan_report(const Plan& plan, const PlanRequest& request, const PlannedSizes* sizes);

// "native: T4 (7.5); compat: ...", or "GPUs newer than 12.0, ...".
std::string entry_purpose(const Plan& plan, const PlanRequest& request, const Code& code);

std::string run_text(const PlannedRun& run); // "native", "compat", "jit", "none"

struct SystemLines {
  std::string title; // "PyTorch (and extensions), torch 2.7 and newer"
  std::vector<std::string> lines;
  std::vector<std::string> notes;
};

std::vector<SystemLines> plan_lines(const Plan& plan, Shell shell);

} // namespace gpuvet
