// The order of decisions, see judge/oom/oom.hpp.
#pragma once

#include "judge/oom/balance.hpp"
#include "judge/oom/oom.hpp"

#include <map>

namespace gpuvet {

// A cause before its row is looked up and its numbers are filled in.
struct OomFinding {
  std::string cause;
  OomSureness sureness = OomSureness::possible;
  std::vector<std::string> evidence;
  std::map<std::string, std::string> fields; // of the row's title and fixes
};

// Best first; the first that is certain ends the search, what was found before it stays behind it.
std::vector<OomFinding> decide(const OomMessage& message, const OomTemplate& row,
                               const OomTables& tables);

// Of a table of memory_summary() alone.
std::vector<OomFinding> decide(const OomTable& table);

// Of series that rise; empty: none does. `over`: memory ran out already.
std::vector<OomFinding> decide(const std::vector<OomGrowth>& growth, bool over);

} // namespace gpuvet
