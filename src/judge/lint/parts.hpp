// The parts of lint_file. Each asks its questions of one setting or of the file as a whole.
#pragma once

#include "judge/lint/entries.hpp"
#include "judge/lint/lint.hpp"

#include <initializer_list>
#include <utility>

namespace gpuvet {

using LintWords = std::initializer_list<std::pair<std::string_view, std::string>>;

struct LintRun {
  const BuildFile& file;
  const LintFacts& facts;
  const LintAsked& asked;
  std::vector<LintFinding> findings;

  // The rule's sentences with `words` put in for {word}.
  LintFinding& add(std::string_view rule, const BuildSetting& setting, const FilePlace& at,
                   LintWords words);
};

// A setting whose value is known, with the row that speaks about it.
struct KnownSetting {
  const BuildSetting& setting;
  const LintVariable& variable;
  std::string value; // with what was cut off
  std::vector<ListEntry> entries;
  std::string separators; // that part them
  bool sound = true;      // every entry says what it is meant to say

  FilePlace place_of(const ListEntry& entry) const; // the whole value where it isn't literal
};

bool has_word(const std::vector<std::string>& list, std::string_view text);

// Is it written so that it reaches its reader and says something? False: nothing more can be said
// about it. Tells in `sound` whether the list as a whole can be believed.
bool judge_form(LintRun& run, KnownSetting& known);
void judge_gencode(LintRun& run, const BuildSetting& setting, std::string_view value,
                   size_t offset);
void judge_empty(LintRun& run, const BuildSetting& setting, const LintVariable& variable);
void judge_words(LintRun& run, const KnownSetting& known); // native, CMake too old
void judge_names(LintRun& run);                            // variables that nothing reads
void judge_whole_file(LintRun& run);
void judge_targets(LintRun& run, const BuildSetting& setting,
                   const std::vector<CodeTarget>& targets, const FilePlace& at);
void judge_coverage(LintRun& run, const BuildSetting& setting,
                    const std::vector<CodeTarget>& targets, const LintVariable& variable);

std::vector<CodeTarget> gencode_targets(const GencodePair& pair);

} // namespace gpuvet
