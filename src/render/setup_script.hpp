// A plan as a bash script: its head tells what it does and what is not known, then one numbered
// part per step, each with the reason above its commands.
#pragma once

#include "model/setup_plan.hpp"

#include <string>

namespace gpuvet {

std::string render_setup_script(const SetupPlan& plan);

} // namespace gpuvet
