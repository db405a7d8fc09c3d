// What a build log says about GPU code: what was made, is it what was asked for, does it run on the
// named GPUs?
#pragma once

#include "judge/lint/lint.hpp"
#include "model/build_log.hpp"
#include "model/report.hpp"

namespace gpuvet {

struct LogAsked {
  std::string asked; // of --asked: a list, or NAME=list; empty: what the log itself says
  std::vector<LoadDevice> gpus;
};

struct LogDevice {
  LoadDevice device;
  uint64_t commands = 0, serving = 0; // those that name targets; of them, with code for it
  uint64_t unsure =
      0; // of the others: would serve it if clang embeds PTX, which its version decides
  std::string reason; // why the first of the others has none
  LoggedSet without;  // that first one
};

struct LogVerdict {
  std::vector<LoggedSet> sets;    // that were judged: commands, else what was announced
  bool from_commands = false;     // else announced only
  std::vector<LoggedTarget> made; // union, ascending
  std::string asked;              // what it was compared with; empty: nothing
  std::string asked_from;         // "--asked", "line 12"
  std::vector<LoggedTarget> missing, extra;
  std::vector<LogDevice> devices;
};

// Error: --asked can't be read.
Result<LogVerdict> judge_log(const BuildLog& log, const LogAsked& asked, const LintTables& tables,
                             const LoadRules& rules);
Report log_report(const BuildLog& log, const LogVerdict& verdict);

} // namespace gpuvet
