// SARIF 2.1.0 (OASIS): findings about files as GitHub, GitLab and editors read them. Rules are
// listed once and results name them; columns count Unicode characters from 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct SarifRule {
  std::string id;      // "separator"
  std::string summary; // one sentence
  std::string help;    // what to do; may be empty
};

struct SarifResult {
  std::string rule;              // id of a rule
  std::string level;             // "error", "warning" or "note"
  std::string message;           // not empty
  std::string file;              // path; empty: the finding is about no file
  uint32_t line = 0, column = 0; // from 1; 0: not known
};

// One run of `gpuvet COMMAND`. A result whose rule is not listed carries the id alone. Relative
// paths stay relative, so that a forge finds them in its checkout. Ends in a line feed.
std::string write_sarif(std::string_view command, const std::vector<SarifRule>& rules,
                        const std::vector<SarifResult>& results);

} // namespace gpuvet
