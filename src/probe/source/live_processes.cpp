// The processes that use a GPU: those that have a node of the driver open, those that hang in it,
// and the driver's own helpers. Files of /proc are read only for these; for all others one look at
// their open files has to do, since a machine may have thousands.
#include "base/text.hpp"
#include "os/file_tree.hpp"
#include "os/folder_links.hpp"
#include "os/system_info.hpp"
#include "probe/source/live_parts.hpp"
#include "probe/source/process_facts.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <span>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr size_t kMostOpenFiles = 4096; // looked at, of each process
constexpr size_t kMostThreads = 512;    // looked at, of each GPU process
constexpr size_t kMostProcesses = 1000; // kept
constexpr size_t kEach = 250;           // looked at by one thread at least
constexpr size_t kMostParts = 8;        // threads
constexpr size_t kSmall = size_t{64} << 10, kMaps = size_t{8} << 20; // bytes

std::string text_of(const std::string& path, size_t most) {
  return read_head(path, most).value_or("");
}

bool is_number(const std::string& name) {
  return decimal_number(name).has_value();
}

// Does a sleep in this kernel function point to the driver? Its internals have generated names.
bool is_driver_function(std::string_view function) {
  constexpr std::array<std::string_view, 8> marks = {"nvidia", "nvkms",      "uvm_", "_nv0",
                                                     "rm_",    "os_acquire", "nv_",  "nouveau"};
  for (std::string_view mark : marks)
    if (function.find(mark) != std::string_view::npos) return true;
  return false;
}

bool is_driver_helper(std::string_view name) {
  return name.starts_with("nvidia-") || name.starts_with("nv-") || name.starts_with("dcgm");
}

struct Clock {
  int64_t booted = 0;
  uint64_t ticks = 100; // in a second
};

// A thread may hang while the first one waits for it at ease.
char worst_state(const std::string& folder, char state) {
  auto threads = list_folder(folder + "/task");
  if (!threads || state == 'D') return state;
  for (size_t i = 0; i < threads->size() && i < kMostThreads; ++i) {
    auto stat = parse_process_stat(text_of(folder + "/task/" + (*threads)[i] + "/stat", kSmall));
    if (stat && stat->state == 'D') return 'D';
  }
  return state;
}

void add_details(const std::string& folder, const ProcessStat& stat, const Clock& clock,
                 GpuProcess& process) {
  process.state = state_in_words(worst_state(folder, stat.state));
  if (process.state.starts_with('D')) process.wait = trimmed(text_of(folder + "/wchan", kSmall));
  process.memlock_bytes = soft_limit_in(text_of(folder + "/limits", kSmall), "Max locked memory");
  process.started = clock.booted + static_cast<int64_t>(stat.start_ticks / clock.ticks);
  ControlGroup group = parse_control_group(text_of(folder + "/cgroup", kSmall));
  process.unit = std::move(group.unit);
  process.container = std::move(group.container);
  if (!process.ours) return;
  process.environment = gpu_variables(text_of(folder + "/environ", size_t{1} << 20));
  process.libraries = gpu_libraries(text_of(folder + "/maps", kMaps));
}

std::optional<GpuProcess> gpu_process(const std::string& proc, const std::string& pid,
                                      const Clock& clock) {
  const std::string folder = join_path(proc, pid);
  auto nodes = link_targets(folder + "/fd", "/dev/nvidia", kMostOpenFiles);
  if (nodes && nodes->empty()) return std::nullopt;
  auto stat = parse_process_stat(text_of(folder + "/stat", kSmall));
  if (!stat || stat->parent == static_cast<uint64_t>(getpid())) return std::nullopt;
  GpuProcess process{.pid = decimal_number(pid).value_or(0), .name = stat->name};
  process.ours = nodes.has_value();
  if (nodes) process.nodes = std::move(*nodes);
  if (!process.ours) {
    const bool hangs = stat->state == 'D' && is_driver_function(text_of(folder + "/wchan", kSmall));
    if (!hangs && !is_driver_helper(stat->name)) return std::nullopt;
  }
  add_details(folder, *stat, clock, process);
  return process;
}

std::vector<GpuProcess> gpu_processes_of(const std::string& proc, std::span<std::string> pids,
                                         const Clock& clock) {
  std::vector<GpuProcess> processes;
  for (const std::string& pid : pids)
    if (auto process = gpu_process(proc, pid, clock)) processes.push_back(std::move(*process));
  return processes;
}

} // namespace

// A machine may have thousands of processes, and a look at one takes some 60 us.
Observed<std::vector<GpuProcess>> gpu_processes(const std::string& proc) {
  auto names = list_folder(proc);
  if (!names) return unknown<std::vector<GpuProcess>>(proc + ": " + names.error().what);
  const long ticks = sysconf(_SC_CLK_TCK);
  const Clock clock{.booted = system_info().booted,
                    .ticks = ticks > 0 ? static_cast<uint64_t>(ticks) : 100};
  const std::string self = std::to_string(getpid());
  std::erase_if(*names, [&](const std::string& name) { return !is_number(name) || name == self; });
  std::span<std::string> pids(*names);
  const size_t each = std::max(kEach, pids.size() / kMostParts + 1);
  std::vector<std::future<std::vector<GpuProcess>>> parts;
  for (; !pids.empty(); pids = pids.subspan(std::min(each, pids.size())))
    parts.push_back(std::async(std::launch::async, [&proc, &clock, part = pids, each] {
      return gpu_processes_of(proc, part.first(std::min(each, part.size())), clock);
    }));
  std::vector<GpuProcess> processes;
  for (auto& part : parts)
    for (GpuProcess& process : part.get())
      if (processes.size() < kMostProcesses) processes.push_back(std::move(process));
  return known(std::move(processes), proc);
}

} // namespace gpuvet
