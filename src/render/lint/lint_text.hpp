// Findings of a linter as compilers print them: the place, the line of the file, a mark under it,
// why it is wrong and what to do.
#pragma once

#include "model/lint.hpp"
#include "render/terminal.hpp"

namespace gpuvet {

std::string render_lint(const LintedFile& file, const TextStyle& style);

// "2 errors, 1 warning", without what there is none of; "nothing to mend".
std::string finding_counts(const std::vector<LintedFile>& files);

} // namespace gpuvet
