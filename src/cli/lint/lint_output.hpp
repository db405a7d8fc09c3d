// The linter's findings for machines, and the changes that --fix makes.
#pragma once

#include "cli/lint/lint_inputs.hpp"
#include "facts/lint/lint.hpp"
#include "model/report.hpp"

#include <string>

namespace gpuvet {

std::string lint_json(const LintInputs& inputs, const std::string& verdict); // gpuvet-lint/1
std::string lint_sarif(const LintInputs& inputs, const LintTables& tables);

std::string rules_json(const LintTables& tables);
Report rules_report(const LintTables& tables);

// The file's text with every fix that overlaps no other, and how many those are.
struct FixedText {
  std::string text;
  size_t fixes = 0;
};
FixedText fixed_text(const LintedFile& file);

} // namespace gpuvet
