#include "judge/verify/report.hpp"

#include "base/text.hpp"
#include "judge/verify/exit_status.hpp"
#include "judge/verify/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

constexpr size_t kMostLines = 8; // of evidence that findings of several GPUs give

std::string place_text(const VerifyCase& all, const JudgedStep& step) {
  const bool pair = !step.peer.empty() && find_view(all, step.peer);
  if (pair) return gpu_label(all, step.gpu) + " to " + gpu_label(all, step.peer);
  if (!step.peer.empty()) return step.peer;
  return all.gpus.size() > 1 && !step.gpu.empty() ? gpu_label(all, step.gpu) : "";
}

std::string title_text(const VerifyCase& all, const JudgedStep& step) {
  const std::string place = place_text(all, step);
  return step.title + (place.empty() ? "" : ", " + place);
}

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

bool is_told(const JudgedStep& step) {
  const bool good = step.verdict == Verdict::pass || step.verdict == Verdict::info;
  return !good && step.follows.empty() && (step.verdict != Verdict::skipped || step.required);
}

void add_evidence(const JudgedStep& step, Finding& finding) {
  if (!step.limit_from.empty() && step.theoretical)
    finding.evidence.push_back("limit: " + step.limit_from);
  if (step.samples > 1 && step.least && step.most && step.reading != "mismatches")
    finding.evidence.push_back(fmt::format("{} samples from {} to {}", step.samples,
                                           figure_text(*step.least, ""),
                                           figure_text(*step.most, step.unit)));
  for (const std::string& line : step.evidence)
    finding.evidence.push_back(line);
}

std::string action_text(Action action) {
  switch (action) {
  case Action::isolate:
    return "keep work off this GPU until then";
  case Action::reset:
    return "reset this GPU before it is used again";
  case Action::none:
  case Action::monitor:
  case Action::fix_software:
    break;
  }
  return "";
}

// Titles of what follows from this, each once.
std::vector<std::string> followers(const std::vector<JudgedStep>& steps, const JudgedStep& cause) {
  std::vector<std::string> titles;
  for (const JudgedStep& step : steps)
    if (step.follows == cause.id && step.verdict != Verdict::skipped &&
        (cause.gpu.empty() || step.gpu == cause.gpu || step.peer == cause.gpu || step.gpu.empty()))
      if (std::find(titles.begin(), titles.end(), step.title) == titles.end())
        titles.push_back(step.title);
  return titles;
}

// Of one row and one verdict, on one GPU or on several.
Finding finding_of(const VerifyCase& all, const std::vector<JudgedStep>& steps,
                   const std::vector<const JudgedStep*>& group) {
  const JudgedStep& first = *group.front();
  Finding finding;
  finding.id = first.id;
  finding.state = state_of(first.verdict);
  finding.title =
      fmt::format("{}: {}: {}", verdict_word(first.verdict), title_text(all, first), first.why);
  add_evidence(first, finding);
  for (size_t i = 1; i < group.size() && i < kMostLines; ++i)
    finding.evidence.push_back(place_text(all, *group[i]) + ": " + group[i]->why);
  if (group.size() > kMostLines)
    finding.evidence.push_back(fmt::format("and {} more", group.size() - kMostLines));
  if (const auto titles = followers(steps, first); !titles.empty())
    finding.evidence.push_back("follows from this: " + joined(titles));
  if (!first.next.empty()) finding.fixes.push_back(first.next);
  if (const std::string action = action_text(first.action); !action.empty())
    finding.fixes.push_back(action);
  return finding;
}

// What was skipped for one reason is one sentence.
void add_skipped(const std::vector<JudgedStep>& steps, Report& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const JudgedStep& step : steps) {
    if (step.verdict != Verdict::skipped || !is_told(step)) continue;
    auto at = std::find_if(reasons.begin(), reasons.end(),
                           [&](const auto& entry) { return entry.first == step.why; });
    if (at == reasons.end()) at = reasons.insert(reasons.end(), {step.why, {}});
    if (std::find(at->second.begin(), at->second.end(), step.title) == at->second.end())
      at->second.push_back(step.title);
  }
  for (const auto& [why, titles] : reasons) {
    Finding finding;
    finding.id = "skipped";
    finding.state = State::skipped;
    finding.title = fmt::format("skipped: {}: {}", joined(titles), why);
    report.findings.push_back(std::move(finding));
  }
}

void add_findings(const VerifyCase& all, const std::vector<JudgedStep>& steps, Report& report) {
  for (Verdict verdict : {Verdict::fail, Verdict::unknown, Verdict::warn}) {
    std::vector<std::vector<const JudgedStep*>> groups;
    std::map<std::string, size_t> places;
    for (const JudgedStep& step : steps) {
      if (step.verdict != verdict || !is_told(step)) continue;
      const auto [at, is_new] = places.emplace(step.id, groups.size());
      if (is_new) groups.emplace_back();
      groups[at->second].push_back(&step);
    }
    for (const auto& group : groups)
      report.findings.push_back(finding_of(all, steps, group));
  }
  add_skipped(steps, report);
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

void add_notes(const VerifyCase& all, Report& report) {
  for (const GpuView& view : all.gpus) {
    const std::string label = gpu_label(all, view.gpu->uuid);
    if (!view.gpu->busy.empty())
      report.notes.push_back(fmt::format("{} is used by others: {}", label, view.gpu->busy));
    for (const char* word : {"nvml", "telemetry"})
      if (const auto at = view.gpu->words.find(word); at != view.gpu->words.end())
        report.notes.push_back(fmt::format("{}: {}: {}", label, word, at->second));
    if (!view.lowered.empty())
      report.notes.push_back(
          fmt::format("{}: {} slow figures are warnings, not failures", label, view.lowered));
    if (view.gpu->why_unusable.empty() && !has_telemetry(view))
      report.notes.push_back(label + ": NVML told neither clocks, power nor temperature");
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
    return report;
  }
  report.tables = verify_tables_of(all, steps);
  add_findings(all, steps, report);
  if (Table published = published_table(all, steps); !published.rows.empty())
    report.closing.push_back(std::move(published));
  add_notes(all, report);
  return report;
}

} // namespace gpuvet
