// A check's results for machines: JSON (gpuvet-check/1, docs/check.md), JUnit XML and SARIF 2.1.0.
#pragma once

#include "judge/policy/check.hpp"

namespace gpuvet {

std::string check_json(const PolicyCheck& result);
std::string check_junit(const PolicyCheck& result, const std::vector<ErrorCode>& errors);
std::string check_sarif(const PolicyCheck& result, const std::vector<ErrorCode>& errors);

// Writes a report. A file that is there already is replaced only when an earlier run wrote it,
// which `mark` in its text tells.
Result<void> write_report(const std::string& path, const std::string& text, std::string_view mark);

constexpr std::string_view kJunitMark = "<testsuites name=\"gpuvet check\"";
constexpr std::string_view kSarifMark = "\"gpuvet\"";

} // namespace gpuvet
