#include "gpu/work/survey/users.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr double kBusy_percent = 10;
constexpr size_t kMostNamed = 3;

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// The parent of a process; 0 when there is none to be seen.
uint64_t parent_of(const std::string& proc, uint64_t pid) {
  std::string line = first_line(fmt::format("{}/{}/stat", proc, pid));
  size_t end = line.rfind(')'); // the name before it may hold anything
  if (end == std::string::npos || end + 4 > line.size()) return 0;
  return std::strtoull(line.c_str() + end + 4, nullptr, 10); // ") S 123"
}

bool is_ours(const std::string& proc, uint64_t pid) {
  auto self = static_cast<uint64_t>(getpid());
  for (int depth = 0; depth < 8 && pid > 1; ++depth, pid = parent_of(proc, pid))
    if (pid == self) return true;
  return false;
}

// NVML numbers processes as the machine does: in a container another one may have that number, or
// none.
std::string named(const std::string& proc, uint64_t pid) {
  std::string name = first_line(fmt::format("{}/{}/comm", proc, pid));
  return name.empty() ? fmt::format("process {} (of another container, or ended)", pid)
                      : fmt::format("process {} ({})", pid, name);
}

} // namespace

std::string who_uses(const NvmlEntry& entry, const std::string& proc) {
  bool busy = entry.busy_percent && *entry.busy_percent > kBusy_percent;
  std::string text;
  size_t named_ones = 0, others = 0;
  for (const NvmlProcess& process : entry.processes) {
    if (is_ours(proc, process.pid) || (process.graphics && !busy)) continue;
    if (named_ones++ < kMostNamed)
      text += (text.empty() ? "" : ", ") + named(proc, process.pid);
    else
      ++others;
  }
  if (others > 0) text += fmt::format(" and {} more", others);
  if (!busy) return text;
  return text.empty()
             ? fmt::format("something that cannot be seen from here keeps it busy ({:.0f} %)",
                           *entry.busy_percent)
             : fmt::format("{}; busy {:.0f} %", text, *entry.busy_percent);
}

} // namespace gpuvet
