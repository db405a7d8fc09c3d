// What changed as JSON, schema "gpuvet-diff/1" (docs/diff.md). Fields are only ever added under the
// same number.
#pragma once

#include "judge/diff/diff.hpp"

#include <string>

namespace gpuvet {

std::string diff_json(const MachineDiff& diff, const std::string& before, const std::string& after);

} // namespace gpuvet
