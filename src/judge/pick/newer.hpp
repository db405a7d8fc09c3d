// Why the builds that are newer than the pick were not taken, in as few sentences as there are
// reasons.
#pragma once

#include "judge/pick/pick.hpp"

namespace gpuvet {

std::vector<NewerBuilds> why_not_newer(const Pick& pick, const PickQuery& query,
                                       const LoadRules& rules);

} // namespace gpuvet
