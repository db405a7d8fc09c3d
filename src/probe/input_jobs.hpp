// The jobs of one file: one for most, one per member for a large zip. Part of inputs.
#pragma once

#include "probe/inputs.hpp"

namespace gpuvet {

void add_file_jobs(const std::string& path, uint64_t size, Wanted wanted, Inputs& to);

// A file that is opened under another name than it is shown (a process's own view of it).
void add_opened_as_job(const std::string& shown, const std::string& opened, uint64_t size,
                       Inputs& to);

// OCI image layouts that lie unpacked in a folder.
bool is_image_folder(const std::string& path);
void add_image_job(const std::string& path, Inputs& to);

bool is_thin_archive(const std::string& path);
Result<std::vector<std::string>> members_of_thin_archive(const std::string& path);

// Temporary files for unpacking, from os/.
MakeSpoolFile temporary_spool_files();

} // namespace gpuvet
