// What the checks of a host's container runtimes and of its CDI specifications share.
#pragma once

#include "judge/doctor/check.hpp"

#include <optional>
#include <string>

namespace gpuvet {

// The answer of checks that need a host with a GPU and a container runtime; nullopt: it is one.
std::optional<Outcome> no_runtime(const Machine& machine);

bool has_toolkit(const Machine& machine);
std::string toolkit_version(const Machine& machine); // "1.17.8"; empty: not known

} // namespace gpuvet
