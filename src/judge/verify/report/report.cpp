#include "judge/verify/report/report.hpp"

#include "base/text.hpp"
#include "judge/verify/exit_status.hpp"
#include "judge/verify/report/findings.hpp"
#include "judge/verify/report/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

// The one that is told first: what can be used at all, then what the hardware itself counted.
const JudgedStep* main_cause(const std::vector<JudgedStep>& steps, Verdict verdict) {
  const auto rank = [](const JudgedStep& step) {
    return step.layer == "device" ? 0 : step.layer == "run" ? 1 : 2;
  };
  const JudgedStep* found = nullptr;
  for (const JudgedStep& step : steps) {
    if (step.verdict != verdict || !step.follows.empty()) continue;
    if (!found || rank(step) < rank(*found)) found = &step;
  }
  return found;
}

const JudgedStep* first_incomplete(const std::vector<JudgedStep>& steps,
                                   const VerifyPolicy& policy) {
  const JudgedStep* found = nullptr;
  for (const JudgedStep& step : steps) {
    if (!is_incomplete(step, policy)) continue;
    if (!found || (!found->follows.empty() && step.follows.empty())) found = &step;
  }
  return found;
}

std::string with_cause(const VerifyCase& all, const std::string& head, const JudgedStep* cause) {
  if (!cause) return head;
  std::string text = fmt::format("{}: {}: {}", head, title_text(all, *cause), cause->why);
  if (!cause->next.empty()) text += " Next: " + cause->next;
  return text;
}

std::string verdict_line_of(const VerifyCase& all, const std::vector<JudgedStep>& steps,
                            const VerifyPolicy& policy, int exit_status) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(steps.begin(), steps.end(),
                         [&](const JudgedStep& step) { return step.verdict == verdict; });
  };
  const JudgedStep* failed = main_cause(steps, Verdict::fail);
  if (all.gpus.empty())
    return "Skipped: " + with_stop(all.measured.no_gpu_why.empty() ? "no GPU was found"
                                                                   : all.measured.no_gpu_why);
  if (exit_status == 130 && failed) return with_cause(all, "Interrupted, and not ready", failed);
  if (exit_status == 130)
    return fmt::format("Interrupted: {} checks passed before, the rest was not run.",
                       count(Verdict::pass));
  if (exit_status == 1) return with_cause(all, "Not ready", failed);
  if (exit_status == 3) {
    const JudgedStep* open = first_incomplete(steps, policy);
    return open ? with_cause(all, "Incomplete", open) : "Incomplete: nothing was checked.";
  }
  const JudgedStep* warned = main_cause(steps, Verdict::warn);
  const std::string ready = fmt::format(
      "Ready: {} checks passed on {}", count(Verdict::pass),
      all.gpus.size() == 1 ? all.gpus.front().gpu->name : fmt::format("{} GPUs", all.gpus.size()));
  if (!warned) return ready + ".";
  return with_cause(all, fmt::format("{}, {} warned", ready, count(Verdict::warn)), warned);
}

State state_of_run(const std::vector<JudgedStep>& steps, int exit_status) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const JudgedStep& step) { return step.verdict == verdict; });
  };
  if (any(Verdict::fail)) return State::fault;
  if (exit_status == 3 || exit_status == 130) return State::unknown;
  return any(Verdict::warn) ? State::warning : State::ok;
}

Table layers_table(const std::vector<JudgedStep>& steps) {
  Table table;
  table.columns = {{"layer", Align::left, false}, {"verdict", Align::left, false}};
  for (const JudgedStep& step : steps)
    if (table.rows.empty() || table.rows.back().front().text != step.layer)
      table.rows.push_back(
          {{step.layer, State::info}, {verdict_word(step.verdict), state_of(step.verdict)}});
  return table;
}

bool has_telemetry(const GpuView& view) {
  return std::any_of(view.by_time.begin(), view.by_time.end(), [](const GpuMoment* moment) {
    return moment->sm_clock_mhz || moment->power_w || moment->temperature_c;
  });
}

// A pass below what is asked for needs its reason.
void add_explained(const VerifyCase& all, const std::vector<JudgedStep>& steps, Report& report) {
  std::set<std::string> told;
  for (const JudgedStep& step : steps)
    if (step.verdict == Verdict::pass && step.theoretical && !step.limit && !step.evidence.empty())
      if (told.insert(step.id).second)
        report.notes.push_back(title_text(all, step) + ": " + step.evidence.front());
}

// What is to be known of one GPU beside its figures.
std::vector<std::string> remarks(const GpuView& view) {
  std::vector<std::string> said;
  if (!view.gpu->busy.empty()) said.push_back("used by others: " + view.gpu->busy);
  for (const char* word : {"nvml", "telemetry"})
    if (const auto at = view.gpu->words.find(word); at != view.gpu->words.end())
      said.push_back(fmt::format("{}: {}", word, at->second));
  if (!view.lowered.empty())
    said.push_back(view.lowered + " slow figures are warnings, not failures");
  if (view.gpu->why_unusable.empty() && !has_telemetry(view))
    said.emplace_back("NVML told neither clocks, power nor temperature");
  return said;
}

void add_notes(const VerifyCase& all, Report& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes; // remark, GPUs
  for (const GpuView& view : all.gpus)
    for (const std::string& remark : remarks(view)) {
      auto at = std::find_if(notes.begin(), notes.end(),
                             [&](const auto& note) { return note.first == remark; });
      if (at == notes.end()) at = notes.insert(notes.end(), {remark, {}});
      at->second.push_back(gpu_label(all, view.gpu->uuid));
    }
  for (const auto& [remark, gpus] : notes) {
    const bool everywhere = gpus.size() > 1 && gpus.size() == all.gpus.size();
    report.notes.push_back((everywhere ? "all GPUs" : joined(gpus)) + ": " + remark);
  }
  if (!all.gpus.empty())
    report.notes.push_back(fmt::format("driver {}, CUDA {}; data from seed {}; {:.0f} s in all",
                                       all.measured.driver, all.measured.cuda, all.measured.seed,
                                       all.measured.seconds));
}

} // namespace

Report verify_report(const VerifyCase& all, const std::vector<JudgedStep>& steps,
                     const VerifyPolicy& policy, int exit_status) {
  Report report;
  report.verdict = verdict_line_of(all, steps, policy, exit_status);
  report.state = state_of_run(steps, exit_status);
  if (all.gpus.empty()) {
    report.state = State::skipped;
    report.tables.push_back(layers_table(steps));
    report.notes.emplace_back("gpuvet doctor says why, and what mends it");
    return report;
  }
  report.tables = verify_tables_of(all, steps);
  add_findings(all, steps, report);
  if (Table published = published_table(all, steps); !published.rows.empty())
    report.closing.push_back(std::move(published));
  add_explained(all, steps, report);
  add_notes(all, report);
  return report;
}

} // namespace gpuvet
