// Reads facts files from a folder (`--facts DIR`), so that new facts can be tried without a build.
#pragma once

#include "facts/facts.hpp"

namespace gpuvet {

FactsReader facts_folder(std::string directory);

} // namespace gpuvet
