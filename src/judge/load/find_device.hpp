// The device that a person means.
#pragma once

#include "judge/load/load.hpp"

namespace gpuvet {

// A name ("T4", "RTX 4090"), PCI id or capability ("8.6", "sm_86"). Errors name the candidates of
// an ambiguous name, and names that are close to one that is not known.
Result<LoadDevice> find_device(const std::string& query, const Facts& facts);

} // namespace gpuvet
