// Owner and origin of what was found: toolkits, libraries, driver files.
#pragma once

#include "probe/source.hpp"

namespace gpuvet {

// Of Machine::toolkits and Machine::libraries; needs Machine::packages.
void attribute_software(const Source& source, Machine& machine);

} // namespace gpuvet
