// Logs of any length to evidence, in constant memory.
#pragma once

#include "base/result.hpp"
#include "judge/oom/oom.hpp"
#include "os/terminal.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct OomInput {
  std::string name; // path, or "-"
  OomEvidence evidence;
};

// Reads each file; "-" is standard input. Errors name the file.
Result<std::vector<OomInput>> read_oom_inputs(const std::vector<std::string>& files,
                                              const OomTables& tables, const Terminal& err);

} // namespace gpuvet
