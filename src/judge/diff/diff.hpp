// What changed between two looks at a machine (or between two machines), most important first.
// States and settings count; what moves by itself, such as temperatures, clocks and counters, does
// not. What is not known on one side is said to be so and is no change.
#pragma once

#include "model/machine.hpp"
#include "model/report.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct Change {
  std::string id;            // "driver-version": kebab-case, stable
  std::string subject;       // "driver", "GPU 0000:65:00.0", "package libcudnn9-cuda-12"
  std::string before, after; // as shown; empty: was not there, is not there any more
};

struct NotCompared {
  std::string subject, why;
};

struct MachineDiff {
  std::vector<Change> changes;
  std::vector<NotCompared> not_compared;
};

MachineDiff diff_machines(const Machine& before, const Machine& after);

// Two environments of one machine, side by side.
MachineDiff diff_pythons(const PythonEnv& before, const PythonEnv& after);

// "550.54.15 -> 580.65.06", "gone (was 9.1.0)", "new: 9.5.1"
std::string in_words(const Change& change);

// `verbose`: all changes; else long lists of one kind are cut, and a note says so.
Report diff_report(const MachineDiff& diff, const std::string& before, const std::string& after,
                   bool verbose);

} // namespace gpuvet
