// What a process has mapped, from the kernel's table /proc/PID/maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct MappedFile {
  std::string path;  // as the process sees it, in its own root
  std::string range; // "7f01-7f02": the file's name in /proc/PID/map_files
  uint64_t inode = 0;
  bool deleted = false; // no longer under that path
};

// Files only (no stack, heap, devices, shared memory), each once, in the table's order.
std::vector<MappedFile> parse_process_maps(std::string_view table);

} // namespace gpuvet
