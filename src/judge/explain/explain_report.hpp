// An explanation as a report: what happened and the cause in the first line, then the evidence,
// what mends it, and what would decide where the cause is open.
#pragma once

#include "judge/explain/explain.hpp"
#include "model/report.hpp"

#include <cstdint>

namespace gpuvet {

struct TextPart { // a file among several that were read as one text
  uint64_t first_line = 1;
  std::string name;
};

struct ReadText {
  uint64_t lines = 0, bytes = 0;
  std::vector<TextPart> parts; // empty: one text
};

// `all`: every message that was recognised, with its causes, the excluded ones too.
Report explanation_report(const Explanation& explanation, const ReadText& read, bool all);

// The first line alone, without full stop: for callers with a line to spare.
std::string explanation_line(const Explanation& explanation);

Confidence overall_confidence(const Explanation& explanation);

} // namespace gpuvet
