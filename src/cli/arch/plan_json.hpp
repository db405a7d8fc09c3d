#pragma once

#include "judge/arch/plan_report.hpp"

#include <string>

namespace gpuvet {

// The document of docs/arch.md, schema gpuvet-arch/1.
std::string plan_json(const Plan& plan, const PlanRequest& request, const PlannedSizes* sizes,
                      Shell shell);

// A conversion, schema gpuvet-arch-convert/1.
std::string conversion_json(const ArchSystem& from, const ArchSystem& to, std::string_view given,
                            const CodeSet& codes, const std::string& value,
                            const std::vector<std::string>& notes);

} // namespace gpuvet
