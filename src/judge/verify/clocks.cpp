// Rules about clocks: what held them down, what of the peak is left, and whether it fades.
#include "judge/verify/reasons.hpp"
#include "judge/verify/rules.hpp"

#include <fmt/core.h>

#include <cmath>

namespace gpuvet {
namespace {

void conclude_reason(const GpuView& view, const VerifyRow& row, const HeldBy& held,
                     const std::string& before, JudgedStep& made) {
  conclude(made, row, held.verdict, before + held_text(view, held));
  made.next = held.reason->next;
  made.action = Action::none;
  for (Action action : {Action::monitor, Action::reset, Action::isolate, Action::fix_software})
    if (held.reason->action == action_word(action)) made.action = action;
}

// The tensor cores were busy enough for the clock that they had.
struct PipeSeen {
  std::optional<double> share; // of the peak at the measured clock
  const VerifyBand* band = nullptr;
  std::string row; // id
};

PipeSeen pipe_of(const VerifyCase& all, const VerifyTarget& target, double rate) {
  PipeSeen seen;
  for (const VerifyRow& row : all.tables.rows) {
    if (row.step != target.row.step || row.limit != VerifyLimit::tensor_clock) continue;
    const VerifyTarget pipe{row, target.step, target.gpu};
    const HardwareLimit limit = hardware_limit(all, pipe, row.limit);
    seen.band = find_band(all, pipe, "rate", limit);
    if (limit.value && *limit.value > 0) seen.share = rate / *limit.value;
    seen.row = row.id;
  }
  return seen;
}

// Below the band although the tensor cores were busy: the clock was low, so its reason decides.
void explain_by_clock(const VerifyCase& all, const VerifyTarget& target, const std::string& detail,
                      JudgedStep& made) {
  const GpuView& view = *target.gpu;
  const ReasonsSeen seen = reasons_in(all, view, {window_of(view, *target.step)});
  const HeldBy* held = deciding(seen);
  for (const HeldBy& each : seen.held)
    made.evidence.push_back("clocks held down by " + held_text(view, each));
  if (!seen.told)
    return leave_open(made, Verdict::unknown,
                      detail + "; the clock was low, and NVML does not tell why");
  if (!held)
    return conclude(made, target.row, Verdict::warn,
                    detail + "; the clock was low without a reason that the driver tells");
  if (held->reason->when == "not-told")
    return leave_open(made, Verdict::unknown,
                      detail + "; the power limit held the clock down, and NVML does not tell "
                               "whether it is the default");
  if (held->verdict == Verdict::pass) {
    made.evidence.insert(made.evidence.begin(),
                         detail + " is as much as " + held->reason->title + " leaves");
    made.limit.reset(); // this much is not asked of it
    return conclude(made, target.row, Verdict::pass, "");
  }
  conclude_reason(view, target.row, *held, detail + "; ", made);
}

} // namespace

bool judge_delivered(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const auto figure = figure_that_counts(target.row, *target.step, false);
  if (!figure || !target.gpu) {
    leave_open(made, Verdict::unknown, "the step ended without the figure that is judged");
    return true;
  }
  const HardwareLimit peak = hardware_limit(all, target, target.row.limit);
  weigh(all, target, *figure, peak, made);
  const VerifyBand* band = find_band(all, target, figure->reading, peak);
  if (!peak.value || *peak.value <= 0 || !band || !band->ok || !target.gpu->gpu->busy.empty())
    return true;
  const double share = figure->median / *peak.value;
  if (share >= *band->ok) return true;
  const PipeSeen pipe = pipe_of(all, target, figure->median);
  const std::string detail = fmt::format("{} of {} ({})", figure_text(figure->median, ""),
                                         figure_text(*peak.value, figure->unit), share_text(share));
  if (pipe.share && pipe.band && pipe.band->ok && *pipe.share >= *pipe.band->ok) {
    made.evidence.clear();
    explain_by_clock(all, target, detail, made);
  } else if (pipe.share && pipe.band && !pipe.band->ok && made.verdict != Verdict::info) {
    made.verdict = Verdict::info; // nobody knows what this kernel can do here
    made.why.clear();
    made.next.clear();
    made.action = Action::none;
    made.evidence.push_back(detail + "; no base is published for this kernel on this model");
  }
  return true;
}

bool judge_clocks(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const GpuView& view = *target.gpu;
  const auto windows = windows_of(all, view);
  if (windows.empty()) {
    leave_open(made, Verdict::skipped, "nothing ran on this GPU");
    return true;
  }
  const ReasonsSeen seen = reasons_in(all, view, windows);
  if (!seen.told) {
    leave_open(made, Verdict::unknown,
               "NVML tells neither counters nor reasons of clocks, so throttling cannot be seen");
    made.next = "nvidia-smi -q -d PERFORMANCE shows what the driver tells";
    return true;
  }
  made.unit = "%";
  made.value = 0;
  for (const HeldBy& held : seen.held)
    made.evidence.push_back(held_text(view, held));
  const HeldBy* held = deciding(seen);
  if (held && held->verdict != Verdict::pass) { // what is no fault does not count as held
    made.value = held->share.percent;
    conclude_reason(view, target.row, *held, "", made);
  } else {
    conclude(made, target.row, Verdict::pass, "");
  }
  return true;
}

// p50 of the last quarter of a load against the second; the first is warming up.
bool judge_drift(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const auto at = target.step->readings.find(target.row.readings.front());
  if (at == target.step->readings.end() || !target.gpu) return false;
  const std::vector<double>& samples = at->second.samples;
  const double seconds = target.step->end_s - target.step->begin_s;
  if (samples.size() < 8 || seconds < verify_number(all.tables, "drift-seconds")) return false;
  const auto quarter = static_cast<std::ptrdiff_t>(samples.size() / 4);
  const auto second = sample_median({samples.begin() + quarter, samples.begin() + 2 * quarter});
  const auto last = sample_median({samples.end() - quarter, samples.end()});
  if (!second || !last || *second <= 0) return false;
  const double lost = (*second - *last) / *second * 100;
  made.reading = at->first;
  made.unit = "%";
  made.value = std::round(-lost * 10) / 10;
  made.samples = samples.size();
  const std::string detail = fmt::format("{:.1f} % in {:.0f} s", lost, seconds);
  const auto warmer = rise(window_of(*target.gpu, *target.step), &GpuMoment::temperature_c);
  if (warmer) made.evidence.push_back(fmt::format("temperature rose by {:.0f} degrees C", *warmer));
  if (lost <= verify_number(all.tables, "drift"))
    conclude(made, target.row, Verdict::pass, "");
  else if (!warmer)
    leave_open(made, Verdict::unknown,
               "it became slower by " + detail + "; the temperature is not told");
  else if (*warmer >= verify_number(all.tables, "drift-warmer"))
    conclude(made, target.row, Verdict::warn, detail);
  else
    leave_open(made, Verdict::unknown,
               "it became slower by " + detail + " although it did not become warmer");
  return true;
}

} // namespace gpuvet
