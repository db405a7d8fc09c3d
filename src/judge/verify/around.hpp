// What changed around two runs: driver, clocks, limits and links.
#pragma once

#include "judge/verify/seen/view.hpp"

#include <string>
#include <vector>

namespace gpuvet {

// The GPU of the other run: by UUID, else the one in the same place with the same name (two
// machines of one kind). Null: none.
const GpuView* counterpart(const VerifyCase& other, const GpuView& view);

std::vector<std::string> changed_around(const VerifyCase& before, const VerifyCase& now);

} // namespace gpuvet
