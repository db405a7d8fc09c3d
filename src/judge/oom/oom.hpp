// Why did GPU memory run out? From what a log tells (OomReader) to causes, in a fixed order: a
// request that cannot be meant, a limit that somebody set, a pool in pieces, other processes,
// memory that nobody owns up to, other libraries, a leak (only with a series that rises), and last:
// it is too much. A number that is not there stays unknown; the report says which command gets it.
#pragma once

#include "judge/oom/growth.hpp"
#include "judge/oom/reader.hpp"
#include "model/report.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

enum class OomSureness : uint8_t { certain, likely, possible };

const char* sureness_word(OomSureness sureness); // "certain", "likely", "one of several"

struct OomVerdict {
  const OomCause* cause = nullptr; // of the tables that were given
  OomSureness sureness = OomSureness::possible;
  std::string title; // of the cause, with its numbers
  std::vector<std::string> evidence;
  std::vector<std::string> fixes; // commands and steps, best first
};

enum class OomOutcome : uint8_t {
  found, // one cause stands out
  open,  // several are possible
  none,  // no GPU memory ran out in this text
};

struct OomReport {
  OomOutcome outcome = OomOutcome::none;
  std::vector<OomVerdict> verdicts; // first the best; the others remain possible
  std::string question;             // that decides between them, with the command that answers it
  const OomMessage* message = nullptr; // that was judged, of the evidence; null: only a series
  std::vector<OomGrowth> growth;       // of each series that is long enough
  Report report;                       // all of it for a person
};

// `evidence` and `tables` must outlive the report.
OomReport judge_oom(const OomEvidence& evidence, const OomTables& tables);

} // namespace gpuvet
