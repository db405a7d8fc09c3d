// lint.toml: the rules of `gpuvet arch lint` and how each setting is written.
#pragma once

#include "facts/facts.hpp"
#include "facts/rows.hpp"

namespace gpuvet {

struct LintRule {
  std::string id, asks, message, why, help;
  std::string severity; // "error", "warning", "note"
  bool fixes = false;
  std::string file, example; // empty: needs a GPU that is asked for
  std::string source;
};

struct LintVariable {
  std::string name, tool;
  std::vector<std::string> forms, commands; // no command: any
  std::vector<std::string> numbers, separators;
  std::string suffixes, ptx;
  std::vector<std::string> words, build_gpu;
  std::string empty; // what an empty value does; empty: nothing to say about it
  bool empty_anywhere = false, ptx_only = false;
  std::string example, source;
};

struct LintTables {
  std::vector<LintRule> rules;
  std::vector<LintVariable> variables;
};

void read_lint(FactFile& file, LintTables& tables);

const LintRule* find_rule(const LintTables& tables, std::string_view id);

} // namespace gpuvet
