// Reads the artefacts that a check names, one after the other, so that what is found belongs to
// one.
#pragma once

#include "judge/policy/check.hpp"
#include "os/terminal.hpp"

namespace gpuvet {

std::vector<Artefact> read_artefacts(const std::vector<std::string>& paths, const Policy& policy,
                                     const LoadRules& rules, const Terminal& progress);

} // namespace gpuvet
