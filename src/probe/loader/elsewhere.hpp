// Where a library that the loader does not find lies all the same.
#pragma once

#include "probe/loader/search.hpp"

#include <string>
#include <vector>

namespace gpuvet {

// Files of that name in the folders where CUDA's libraries usually are: toolkits, the driver's
// places in containers and under WSL, folders of ld.so.conf, wheels beside the file that asks. Only
// those that would fit the program.
std::vector<std::string> files_elsewhere(LibrarySearch& search, const std::string& name,
                                         const std::string& asking);

// Folders that hold the driver's libraries, or copies of them, where they are there: without the
// loader's default folders.
std::vector<std::string> driver_folders(const Source& source);

// lib64 and the like of every CUDA toolkit in the usual places.
std::vector<std::string> toolkit_folders(const Source& source);

} // namespace gpuvet
