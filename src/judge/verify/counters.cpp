// Errors that were counted while it ran: ECC, remapped rows, replays, Xid events.
#include "base/text.hpp"
#include "judge/verify/rules.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

using Count = std::optional<uint64_t> GpuCounters::*;

std::optional<double> rise_of(const VerifiedGpu& gpu, Count count) {
  if (!(gpu.before.*count) || !(gpu.after.*count)) return std::nullopt;
  const uint64_t before = *(gpu.before.*count), after = *(gpu.after.*count);
  return after > before ? static_cast<double>(after - before) : 0.0;
}

std::optional<double> flag_of(const std::optional<bool>& after) {
  if (!after) return std::nullopt;
  return *after ? 1.0 : 0.0;
}

// How much of it came in the run; nullopt: not told.
std::optional<double> came(const VerifiedGpu& gpu, const std::string& name) {
  if (name == "replays") return rise_of(gpu, &GpuCounters::replays);
  if (name == "ecc_corrected") return rise_of(gpu, &GpuCounters::ecc_corrected);
  if (name == "ecc_uncorrected") return rise_of(gpu, &GpuCounters::ecc_uncorrected);
  if (name == "remapped_rows") return rise_of(gpu, &GpuCounters::remapped_rows);
  if (name == "nvlink_errors") return rise_of(gpu, &GpuCounters::nvlink_errors);
  if (name == "remap_pending") return flag_of(gpu.after.remap_pending);
  if (name == "remap_failed") return flag_of(gpu.after.remap_failed);
  if (name == "xids" && gpu.after.xids) return static_cast<double>(*gpu.after.xids);
  return std::nullopt;
}

struct Worst {
  const VerifyCounter* row = nullptr;
  Verdict verdict = Verdict::pass;
  double value = 0;
};

void conclude_counter(const VerifyTarget& target, const Worst& worst, JudgedStep& made) {
  made.reading = worst.row->name;
  made.value = worst.value;
  conclude(made, target.row, worst.verdict,
           fmt::format("{}: {:.0f}", worst.row->title, worst.value));
  made.next = worst.row->next;
  made.action = Action::none;
  for (Action action : {Action::monitor, Action::reset, Action::isolate, Action::fix_software})
    if (worst.row->action == action_word(action)) made.action = action;
}

} // namespace

bool judge_counters(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const VerifiedGpu& gpu = *target.gpu->gpu;
  Worst worst;
  std::vector<std::string> not_told;
  size_t told = 0;
  for (const VerifyCounter& row : all.tables.counters) {
    const auto value = came(gpu, row.name);
    if (!value) {
      not_told.push_back(row.title);
      continue;
    }
    ++told;
    if (*value > 0) made.evidence.push_back(fmt::format("{}: {:.0f}", row.title, *value));
    const Verdict verdict = row.fail && *value >= *row.fail   ? Verdict::fail
                            : row.warn && *value >= *row.warn ? Verdict::warn
                                                              : Verdict::pass;
    const bool worse = verdict == Verdict::fail
                           ? worst.verdict != Verdict::fail
                           : verdict == Verdict::warn && worst.verdict == Verdict::pass;
    if (worse) worst = {&row, verdict, *value};
  }
  if (!not_told.empty()) made.evidence.push_back("not told: " + joined(not_told));
  if (told == 0)
    leave_open(made, Verdict::unknown, "NVML tells no counters of errors");
  else if (worst.row)
    conclude_counter(target, worst, made);
  else
    conclude(made, target.row, Verdict::pass, "");
  if (made.verdict == Verdict::pass) made.value = 0;
  return true;
}

} // namespace gpuvet
