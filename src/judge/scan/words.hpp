// Wording that the scan's tables and findings share.
#pragma once

#include "judge/scan/scan_result.hpp"
#include "model/report.hpp"

#include <string>
#include <vector>

namespace gpuvet {

// "native", "compat", "jit", "partial", "none"... for a table cell.
Cell verdict_cell(const FileVerdict& verdict);

// What the words in the cells mean, only for the words that occur.
std::string legend(const ScanResult& result);

// "75 80 90a" from the images of one kind, without repeats, at most `width` columns ("+3" for the
// rest); "-" when there are none.
std::string targets_cell(const Binary& binary, ImageKind kind, size_t width);

// "T4, A100 and H100"
std::string listed(const std::vector<std::string>& names);

// A kernel's name as a person wrote it, without its arguments when that gets long.
std::string readable_kernel(const std::string& mangled);

// The flags that would add a target; a whole list is for the build system to keep.
std::string rebuild_fix(const LoadDevice& device, const LoadEnvironment& environment);

// "no kernel image is available for execution on the device" for 209, and so on; empty if unknown.
std::string error_text(int code, const std::vector<ErrorCode>& errors);

} // namespace gpuvet
