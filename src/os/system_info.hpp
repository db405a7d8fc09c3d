// What the kernel and the C library say about this machine and this process, in one go.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct SystemInfo {
  std::string kernel_release; // uname -r; empty: not told
  std::string architecture;   // uname -m
  std::string host_name;
  std::string glibc; // "2.36"
  uint64_t user = 0; // effective uid
  std::vector<uint64_t> groups;
  int64_t now = 0, booted = 0;                       // seconds since 1970
  std::optional<uint64_t> memlock_bytes, open_files; // soft limits; UINT64_MAX: unlimited
};

SystemInfo system_info();

// Variables of this process; of a name given twice the first counts, as for getenv().
std::map<std::string, std::string> process_environment();

} // namespace gpuvet
