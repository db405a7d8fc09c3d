// What the files of /proc/PID say, as text. Part of live.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct ProcessStat { // /proc/PID/stat
  std::string name;
  char state = '?';
  uint64_t parent = 0;
  uint64_t start_ticks = 0; // since boot
};
std::optional<ProcessStat> parse_process_stat(std::string_view text);

std::string state_in_words(char state); // "D (disk sleep)"

// Soft limit in a line of /proc/PID/limits; UINT64_MAX: unlimited.
std::optional<uint64_t> soft_limit_in(std::string_view limits, std::string_view name);

struct ControlGroup {
  std::string unit, container; // "jupyter.service"; first 12 digits of the container's id
};
ControlGroup parse_control_group(std::string_view text); // /proc/PID/cgroup

// Variables that bear on CUDA and its users; nothing else of an environment is looked at.
bool is_gpu_variable(std::string_view name);
std::map<std::string, std::string> gpu_variables(std::string_view environ_text);

// Paths of /proc/PID/maps that are libraries of CUDA or of what stands on it.
std::vector<std::string> gpu_libraries(std::string_view maps);

} // namespace gpuvet
