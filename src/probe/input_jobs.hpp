// The jobs of one file: one for most, one per member for a large zip. Part of inputs.
#pragma once

#include "probe/inputs.hpp"

namespace gpuvet {

void add_file_jobs(const std::string& path, uint64_t size, Wanted wanted, Inputs& to);

// A file that is opened under another name than it is shown (a process's own view of it).
void add_opened_as_job(const std::string& shown, const std::string& opened, uint64_t size,
                       Inputs& to);

// Temporary files for unpacking, from os/.
MakeSpoolFile temporary_spool_files();

} // namespace gpuvet
