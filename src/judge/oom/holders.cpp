#include "judge/oom/holders.hpp"

#include "base/fill_text.hpp"
#include "judge/checks/common.hpp"
#include "judge/oom/balance.hpp"
#include "judge/oom/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace gpuvet {
namespace {

constexpr double kUnexplainedLeast = 300 * kMiB; // and
constexpr double kDriverOwn = 1.2 * kGiB;  // the driver's own part, where it is not told by itself
constexpr double kUnexplainedShare = 0.01; // of the GPU

bool other_namespace(const Machine& machine) {
  return in_container(machine) ||
         (machine.surroundings.own_pid_namespace && *machine.surroundings.own_pid_namespace);
}

// Could another program have the GPU open without being seen?
bool all_seen(const Machine& machine) {
  if (!machine.processes || other_namespace(machine)) return false;
  if (!machine.system.user || *machine.system.user != 0) return false;
  return std::all_of(
      machine.processes->begin(), machine.processes->end(),
      [](const GpuProcess& process) { return process.ours || !process.nodes.empty(); });
}

void add_seen(const GpuProcess& process, GpuHolder& holder) {
  holder.name = process.name;
  holder.state = process.state;
  holder.ended = process.state.starts_with('Z');
  holder.unit = process.unit;
  holder.container = process.container;
  holder.started = process.started;
}

void add_open(const Machine& machine, const NvmlGpu& gpu, GpuMemory& memory) {
  if (!machine.processes) return;
  const std::string node = gpu.minor ? fmt::format("/dev/nvidia{}", *gpu.minor) : std::string();
  for (const GpuProcess& process : *machine.processes) {
    auto same = [&](const GpuHolder& holder) { return holder.pid == process.pid; };
    auto known = std::find_if(memory.holders.begin(), memory.holders.end(), same);
    const bool open = !node.empty() && std::find(process.nodes.begin(), process.nodes.end(),
                                                 node) != process.nodes.end();
    if (known != memory.holders.end()) {
      add_seen(process, *known);
      known->open = open;
    } else if (open) {
      GpuHolder holder;
      holder.pid = process.pid;
      holder.open = true;
      add_seen(process, holder);
      memory.holders.push_back(std::move(holder));
    }
  }
}

GpuMemory memory_of(const Machine& machine, const NvmlGpu& gpu) {
  GpuMemory memory;
  memory.index = gpu.index;
  memory.name = gpu.name;
  if (gpu.error != 0)
    memory.why_unknown = gpu.error_text.empty() ? "the GPU does not answer" : gpu.error_text;
  memory.total = gpu.memory_total.value;
  memory.used = gpu.memory_used.value;
  memory.reserved = gpu.memory_reserved.value;
  bool all_told = gpu.processes.value.has_value() && !(gpu.mig && *gpu.mig);
  if (gpu.processes)
    for (const NvmlProcess& process : *gpu.processes) {
      GpuHolder holder;
      holder.pid = process.pid;
      holder.bytes = process.bytes;
      holder.graphics = process.graphics;
      holder.listed = true;
      all_told = all_told && process.bytes;
      memory.holders.push_back(std::move(holder));
    }
  add_open(machine, gpu, memory);
  std::stable_sort(memory.holders.begin(), memory.holders.end(),
                   [](const GpuHolder& a, const GpuHolder& b) {
                     return a.bytes.value_or(0) > b.bytes.value_or(0);
                   });
  memory.complete = all_told && all_seen(machine);
  if (!all_told || !memory.used) return memory;
  // nvmlDeviceGetMemoryInfo_v2 does not count what it calls reserved as used.
  uint64_t told = 0;
  for (const GpuHolder& holder : memory.holders)
    told += std::min(holder.bytes.value_or(0), UINT64_MAX - told);
  memory.unexplained = *memory.used > told ? *memory.used - told : 0;
  return memory;
}

bool matters(const GpuMemory& memory) {
  if (!memory.unexplained || !memory.total) return false;
  const auto rest = static_cast<double>(*memory.unexplained);
  const double least = memory.reserved ? kUnexplainedLeast : kDriverOwn;
  return rest >= std::max(least, kUnexplainedShare * static_cast<double>(*memory.total));
}

// --- words --------------------------------------------------------------------------------------

std::string size_or(const std::optional<uint64_t>& bytes, const char* otherwise) {
  return bytes ? size_text(static_cast<double>(*bytes)) : std::string(otherwise);
}

std::string remark(const GpuHolder& holder, bool explains) {
  std::string text;
  auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (!holder.unit.empty()) add(holder.unit);
  if (!holder.container.empty()) add("container " + holder.container);
  if (holder.ended) add("has ended, its parent has not taken notice");
  if (!holder.listed && explains)
    add("only has the device open: the driver does not list it");
  else if (!holder.listed)
    add("only has the device open");
  if (holder.listed && holder.name.empty()) add("not seen from here");
  if (holder.graphics) add("graphics");
  return text;
}

Table table_of(const GpuMemory& memory, std::optional<uint64_t> pid) {
  Table table;
  table.columns = {
      {fmt::format("GPU {}{}{}", memory.index, memory.name.empty() ? "" : " ", memory.name)},
      {"memory", Align::right},
      {"", Align::left, true}};
  const bool rest = matters(memory);
  for (const GpuHolder& holder : memory.holders) {
    std::string who = fmt::format("{} {}", holder.pid, holder.name.empty() ? "?" : holder.name);
    const char* none = holder.listed ? "not told" : "-";
    table.rows.push_back({{who, holder.ended ? State::warning : State::info},
                          {size_or(holder.bytes, none)},
                          {remark(holder, rest)}});
    if (holder.pid != pid) continue;
    table.rows.push_back({{"  its CUDA context"}, {"unknown", State::unknown}, {""}});
    table.rows.push_back({{"  its allocator"}, {"unknown", State::unknown}, {""}});
  }
  if (memory.reserved && *memory.reserved > 0)
    table.rows.push_back({{"the driver itself"}, {size_or(memory.reserved, "")}, {""}});
  if (rest)
    table.rows.push_back(
        {{"nobody whom it names", State::warning}, {size_or(memory.unexplained, "")}, {""}});
  std::string all = "used";
  if (!memory.why_unknown.empty()) all = memory.why_unknown;
  table.rows.push_back(
      {{all}, {size_or(memory.used, "unknown")}, {"of " + size_or(memory.total, "unknown")}});
  return table;
}

void add_verdicts(const OomTables& tables, OomHolders& holders) {
  const OomCause* hidden = find_oom_cause(tables, "gpu-memory-without-process");
  for (const GpuMemory& memory : holders.gpus) {
    if (!matters(memory) || hidden == nullptr) continue;
    OomVerdict verdict;
    verdict.cause = hidden;
    verdict.title = fmt::format("{} of GPU {} are held by nobody whom the driver names",
                                size_or(memory.unexplained, ""), memory.index);
    verdict.evidence.push_back(fmt::format("nvmlDeviceGetMemoryInfo(GPU {}): {} used of {}",
                                           memory.index, size_or(memory.used, ""),
                                           size_or(memory.total, "")));
    for (const GpuHolder& holder : memory.holders)
      if (!holder.listed) {
        verdict.evidence.push_back(
            fmt::format("process {} ({}) has the device open and is not in the "
                        "driver's list",
                        holder.pid, holder.name));
        verdict.fixes.push_back(
            holder.ended
                ? fmt::format(
                      "end its parent, which must take notice of its end, if that is yours: "
                      "kill $(ps -o ppid= -p {})",
                      holder.pid)
                : fmt::format("ps -o user,ppid,lstart,cmd -p {0} tells whose it is; if it is left "
                              "over of yours: kill {0}",
                              holder.pid));
      }
    const bool known = !verdict.fixes.empty();
    verdict.sureness = known ? OomSureness::likely : OomSureness::possible;
    const std::map<std::string, std::string> fields = {{"index", fmt::format("{}", memory.index)}};
    for (const CheckFix& fix : hidden->fixes)
      verdict.fixes.push_back(fill_text(fix.command, fields));
    holders.verdicts.push_back(std::move(verdict));
    if (known || holders.outcome != OomOutcome::found)
      holders.outcome = known ? OomOutcome::found : OomOutcome::open;
  }
}

std::string why_no_answer(const Asked& asked) {
  switch (asked.state) {
  case AskState::hung:
    return "NVML gave no answer in time (" + asked.call + ")";
  case AskState::crashed:
    return "NVML crashed (" + asked.call + ")";
  case AskState::failed:
    return "NVML does not start: " + asked.error_text;
  case AskState::no_library:
    return "the NVML library is not found: " + asked.problem;
  case AskState::skipped:
    return "NVML was not asked: " + asked.problem;
  case AskState::answered:
    break;
  }
  return {};
}

std::string verdict_line(const OomHolders& holders) {
  if (!holders.why_unknown.empty())
    return "Who holds the memory is not known: " + holders.why_unknown +
           ". Decide with: gpuvet doctor";
  if (!holders.verdicts.empty()) {
    const OomVerdict& first = holders.verdicts.front();
    return first.title + ". Mend: " + first.fixes.front();
  }
  const GpuMemory* most = nullptr;
  for (const GpuMemory& memory : holders.gpus)
    if (memory.used && (most == nullptr || *memory.used > *most->used)) most = &memory;
  if (most == nullptr) return "No GPU tells what is used of its memory.";
  if (most->holders.empty())
    return fmt::format("No program holds GPU memory; GPU {} has {} of {} in use.", most->index,
                       size_or(most->used, ""), size_or(most->total, "?"));
  const GpuHolder& first = most->holders.front();
  return fmt::format("GPU {}: {} of {} in use, most of it by {} ({}).", most->index,
                     size_or(most->used, ""), size_or(most->total, "?"),
                     first.name.empty() ? "a process not seen from here" : first.name, first.pid);
}

// What one process holds, and what of it cannot be told from outside.
void tell_process(OomHolders& holders) {
  std::string name, held;
  for (const GpuMemory& memory : holders.gpus)
    for (const GpuHolder& holder : memory.holders) {
      if (holder.pid != holders.pid) continue;
      name = holder.name.empty() ? "not seen from here" : holder.name;
      const char* none = holder.listed ? "an amount that is not told" : "nothing that is listed";
      held += fmt::format("{}{} on GPU {}", held.empty() ? "" : ", ", size_or(holder.bytes, none),
                          memory.index);
    }
  holders.report.verdict = fmt::format("Process {} ({}) holds {}.", *holders.pid, name, held);
  holders.report.notes.push_back(
      "how much of a process is its CUDA context and how much its allocator cannot be told from "
      "outside; in the program: torch.cuda.memory_reserved() is the allocator's part, the rest are "
      "context, kernels and libraries");
}

} // namespace

Result<OomHolders> judge_holders(const Machine& machine, const OomTables& tables,
                                 std::optional<uint64_t> pid, std::optional<uint32_t> gpu) {
  OomHolders holders;
  holders.pid = pid;
  holders.why_unknown = why_no_answer(machine.nvml.asked);
  for (const NvmlGpu& one : machine.nvml.gpus) {
    if (gpu && *gpu != one.index) continue;
    GpuMemory memory = memory_of(machine, one);
    if (pid) {
      auto other = [&](const GpuHolder& holder) { return holder.pid != *pid; };
      if (std::all_of(memory.holders.begin(), memory.holders.end(), other)) continue;
    }
    holders.gpus.push_back(std::move(memory));
  }
  if (holders.why_unknown.empty() && holders.gpus.empty()) {
    if (gpu) return fail("there is no such GPU", fmt::format("--gpu {}", *gpu));
    if (pid)
      return fail("no GPU lists this process and it has none open", fmt::format("--pid {}", *pid));
    holders.why_unknown = "this machine has no GPU that NVML lists";
  }
  if (!pid) add_verdicts(tables, holders);
  holders.report.verdict = verdict_line(holders);
  holders.report.state = !holders.why_unknown.empty() ? State::unknown
                         : holders.verdicts.empty()   ? State::info
                                                      : State::warning;
  for (const GpuMemory& memory : holders.gpus)
    holders.report.tables.push_back(table_of(memory, pid));
  for (const OomVerdict& verdict : holders.verdicts) {
    Finding finding;
    finding.id = verdict.cause->id;
    finding.state = State::warning;
    finding.title = fmt::format("{}: {} [{}]", sureness_word(verdict.sureness), verdict.title,
                                verdict.cause->id);
    finding.evidence = verdict.evidence;
    finding.cause = verdict.cause->cause;
    finding.fixes = verdict.fixes;
    holders.report.findings.push_back(std::move(finding));
  }
  if (pid && !holders.gpus.empty()) tell_process(holders);
  const bool seen = std::all_of(holders.gpus.begin(), holders.gpus.end(),
                                [](const GpuMemory& m) { return m.complete; });
  if (!seen && !holders.gpus.empty())
    holders.report.notes.push_back(other_namespace(machine)
                                       ? "this is a container: processes outside of it are not "
                                         "seen; run it on the host as root"
                                       : "open files of other users are seen by root only; run it "
                                         "with sudo to see every holder");
  return holders;
}

} // namespace gpuvet
