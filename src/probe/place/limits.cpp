// Shared memory, limits of our cgroup, namespaces.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>

namespace gpuvet::place {
namespace {

const std::string kCgroups = "/sys/fs/cgroup";

void find_shared_memory(const Source& source, Surroundings& around) {
  const std::string folder = "/dev/shm";
  if (auto space = source.space(folder)) {
    around.shm_bytes = known(space->total, folder);
    around.shm_free_bytes = known(space->free, folder);
  } else {
    around.shm_bytes = unknown<uint64_t>(folder + ": " + space.error().what);
    around.shm_free_bytes = around.shm_bytes;
  }
  auto names = source.list(folder);
  if (!names) return;
  around.shm_nccl_files = static_cast<uint64_t>(std::count_if(
      names->begin(), names->end(), [](const std::string& n) { return n.starts_with("nccl-"); }));
}

// "0::/system.slice/x.service" of version 2; a container with its own cgroup namespace sees "/".
std::string own_cgroup(const Source& source) {
  for (const std::string& line : lines(source, "/proc/self/cgroup"))
    if (line.starts_with("0::/")) return line.size() == 4 ? kCgroups : kCgroups + line.substr(3);
  return {};
}

std::optional<uint64_t> limit_in(const Source& source, const std::string& path) {
  std::string value = first_line(source, path);
  if (value == "max") return UINT64_MAX;
  return decimal_number(value);
}

void find_cgroup_limits(const Source& source, Surroundings& around) {
  if (auto space = source.space(kCgroups)) around.cgroup_read_only = space->read_only;
  std::string folder = own_cgroup(source);
  if (folder.empty()) return;
  around.pids_max = limit_in(source, folder + "/pids.max");
  around.memory_max_bytes = limit_in(source, folder + "/memory.max");
  for (const std::string& line : lines(source, folder + "/memory.events")) {
    std::vector<std::string> fields = words_of(line);
    if (fields.size() == 2 && fields[0] == "oom_kill") around.oom_kills = decimal_number(fields[1]);
  }
}

// The first namespaces have fixed numbers (include/linux/proc_ns.h).
Observed<bool> is_own(const Source& source, const std::string& kind, const std::string& first) {
  std::string path = "/proc/self/ns/" + kind;
  auto target = source.link_target(path);
  if (!target) return unknown<bool>(path + ": " + target.error().what);
  return known(*target != kind + ":[" + first + "]", path);
}

} // namespace

void probe_limits(const Source& source, Surroundings& around) {
  find_shared_memory(source, around);
  find_cgroup_limits(source, around);
  around.user_namespace = is_own(source, "user", "4026531837");
  around.own_pid_namespace = is_own(source, "pid", "4026531836");
}

} // namespace gpuvet::place
