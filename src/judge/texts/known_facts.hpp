// The doctor's machine in the words of model/known_fact.hpp, so that one judgement serves a machine
// and a text. `where` is the file or call that the probe names.
#pragma once

#include "model/known_fact.hpp"
#include "model/machine.hpp"

#include <vector>

namespace gpuvet {

std::vector<KnownFact> known_facts(const Machine& machine);

} // namespace gpuvet
