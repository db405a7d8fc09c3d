// The scan as JSON, schema "gpuvet-scan/1" (docs/scan-json.md). Fields are only ever added under
// the same number.
#pragma once

#include "judge/scan/scan_result.hpp"

#include <string>

namespace gpuvet {

// `containers`: list every container with its images and verdicts.
std::string scan_json(const ScanResult& result, const LoadRules& rules, bool containers);

} // namespace gpuvet
