// The scan as a person reads it.
#pragma once

#include "judge/scan/scan_result.hpp"
#include "model/report.hpp"

namespace gpuvet {

struct ScanView {
  int width = 80; // columns
};

Report scan_report(const ScanResult& result, const ScanView& view,
                   const std::vector<ErrorCode>& errors);

Table files_table(const ScanResult& result, int width);

} // namespace gpuvet
