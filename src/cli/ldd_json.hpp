// What gpuvet ldd found as JSON, schema "gpuvet-ldd/1" (docs/ldd.md). Fields are only ever added
// under the same number.
#pragma once

#include "judge/ldd/ldd_result.hpp"
#include "model/report.hpp"

#include <string>

namespace gpuvet {

std::string ldd_json(const LddResult& result, const Report& report);

} // namespace gpuvet
