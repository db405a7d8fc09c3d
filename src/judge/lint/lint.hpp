// What is wrong with the architectures that a build file asks for. Says nothing about what it can't
// know: values from outside the file, toolkits that the file doesn't name.
#pragma once

#include "facts/lint/lint.hpp"
#include "judge/load/load.hpp"
#include "model/lint.hpp"

namespace gpuvet {

struct LintFacts {
  const LintTables& tables;
  const std::vector<WrongVariable>& wrong;
  const std::vector<CMakeFeature>& cmake;
  const std::vector<Toolkit>& toolkits;
  const LoadRules& rules;
};

struct LintAsked {
  std::vector<LoadDevice> gpus;
  std::string toolkit; // of --toolkit: instead of those that the file names; empty: none
};

// Findings in the order of their places.
std::vector<LintFinding> lint_file(const BuildFile& file, const LintFacts& facts,
                                   const LintAsked& asked);

// The row that speaks about a setting; null: none does.
const LintVariable* variable_of(const BuildSetting& setting, const LintTables& tables);

} // namespace gpuvet
