// gpuvet-setup/1: the plan as data, with the script that it makes.
#pragma once

#include "model/setup_plan.hpp"

#include <string>

namespace gpuvet {

std::string setup_json(const SetupPlan& plan, const std::string& script);
std::string refusal_json(const SetupRefusal& refusal);

} // namespace gpuvet
