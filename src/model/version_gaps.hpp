// Versions of symbols that a library wants and that the library found for it does not define: the
// loader then refuses with "version `GLIBCXX_3.4.30' not found".
#pragma once

#include "model/machine/loader.hpp"

#include <vector>

namespace gpuvet {

// One for each pair of libraries and family of versions ("GLIBCXX_"), with the highest version
// wanted.
std::vector<VersionGap> version_gaps(const LoadTree& tree);

} // namespace gpuvet
