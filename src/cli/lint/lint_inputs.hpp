// The build files that `gpuvet arch lint` reads: named ones, those below a folder, and words of a
// command line.
#pragma once

#include "cli/command.hpp"
#include "judge/lint/lint.hpp"

namespace gpuvet {

struct LintInputs {
  std::vector<LintedFile> files; // with findings
  std::vector<Error> errors;
  size_t looked_at = 0;  // build files
  bool words = false;    // settings on the command line beside them
  size_t settings = 0;   // of GPU architectures, in them
  size_t unresolved = 0; // of those: they hold values from outside the file
};

LintInputs read_lint_inputs(const std::vector<std::string>& names, const LintFacts& facts,
                            const LintAsked& asked);

} // namespace gpuvet
