// What one verdict means for others.
#pragma once

#include "judge/verify/seen/view.hpp"

#include <vector>

namespace gpuvet {

// A GPU that cannot be used at all is not proved by what ran on it afterwards.
void stop_after_device_layer(std::vector<JudgedStep>& steps);

// What a detector could not see is not proved either.
void void_by_detectors(const VerifyCase& all, std::vector<JudgedStep>& steps);

// Which of them follows from which.
void find_causes(const VerifyCase& all, std::vector<JudgedStep>& steps);

} // namespace gpuvet
