// /etc/ld.so.conf and the files it includes: the folders that ldconfig puts into the cache.
#pragma once

#include "model/machine/loader.hpp"
#include "probe/source.hpp"

#include <string>
#include <vector>

namespace gpuvet {

// In ldconfig's order. What cannot be followed is said in `notes`.
std::vector<LoaderState::Folder> read_ld_conf(const Source& source,
                                              std::vector<std::string>& notes);

} // namespace gpuvet
