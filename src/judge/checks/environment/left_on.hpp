// Variables that were set once and stayed: what checks of them have in common.
#pragma once

#include "judge/doctor/check.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuvet {

// Fires when one of `names` has a value that matters: here, in a running GPU process, in a start-up
// file, in NCCL's own settings. Fields: "name", "value", "place" ("here", "in python3 (pid 12)",
// "FILE:LINE"), and of these what applies: "variable" (set here), "process", "file" and "line".
Outcome left_on(const Machine& machine, const std::vector<std::string>& names,
                const std::function<bool(const std::string& value)>& matters);

} // namespace gpuvet
