// Two runs: what became slower or faster beyond its noise, and what changed around it.
#include "judge/verify/around.hpp"
#include "judge/verify/seen/figures.hpp"
#include "judge/verify/seen/view.hpp"
#include "judge/verify/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace gpuvet {
namespace {

struct Change {
  std::string title, gpu, reading, unit;
  double before = 0, now = 0, mad_before = 0, mad_now = 0;
  size_t samples_before = 0, samples_now = 0;
  double percent = 0, noise = 0; // of the figure before
  bool better = false, beyond = false;
};

// The same of a step's gpu and peer; a Python keeps its name.
std::string other_name(const VerifyCase& all, const VerifyCase& other, const std::string& uuid) {
  const GpuView* view = find_view(all, uuid);
  const GpuView* there = view ? counterpart(other, *view) : nullptr;
  return there ? there->gpu->uuid : uuid;
}

bool smaller_is_better(const std::string& unit) {
  return unit == "us" || unit == "ms" || unit == "s" || unit == "ns" || unit == "%";
}

bool is_compared(const VerifyRow& row) {
  switch (row.rule) {
  case VerifyRule::rate:
  case VerifyRule::of_step:
  case VerifyRule::latency:
  case VerifyRule::delivered:
  case VerifyRule::pipe:
    return true;
  case VerifyRule::told:
    return row.unit != "MHz";
  default:
    return false;
  }
}

// Standard error of a median by its MAD: 1.4826 MAD is a standard deviation, 1.2533 / sqrt(n) of it
// the error of the median.
double error_of(double mad, size_t samples) {
  return samples == 0 ? 0 : 1.4826 * 1.2533 * mad / std::sqrt(static_cast<double>(samples));
}

Change change_of(const VerifyTables& tables, const VerifyRow& row, const Figure& before,
                 const Figure& now) {
  Change made;
  made.title = row.title;
  made.reading = now.reading;
  made.unit = now.unit;
  made.before = before.median;
  made.now = now.median;
  made.mad_before = before.mad;
  made.mad_now = now.mad;
  made.samples_before = before.samples;
  made.samples_now = now.samples;
  made.percent = (now.median - before.median) / before.median * 100;
  const double error =
      std::hypot(error_of(before.mad, before.samples), error_of(now.mad, now.samples));
  made.noise = verify_number(tables, "noise") * error / before.median * 100;
  made.better = (made.percent > 0) != smaller_is_better(now.unit);
  made.beyond = std::fabs(made.percent) > made.noise &&
                std::fabs(made.percent) >= verify_number(tables, "least-change");
  return made;
}

// One row may be the second of its step: each reading is compared once.
std::vector<Change> changes_of(const VerifyCase& before, const VerifyCase& now) {
  std::vector<Change> changes;
  std::set<std::string> seen;
  for (const VerifyRow& row : now.tables.rows) {
    if (!is_compared(row) || row.step.empty()) continue;
    for (const StepResult& step : now.measured.steps) {
      if (step.id != row.step || step.state != StepState::done) continue;
      const StepResult* old = find_step(before, row.step, other_name(now, before, step.gpu),
                                        other_name(now, before, step.peer));
      if (!old || old->state != StepState::done) continue;
      for (const std::string& reading : row.readings) {
        const auto there = figure_of(*old, reading), here = figure_of(step, reading);
        const std::string key = step.id + "\n" + step.gpu + "\n" + step.peer + "\n" + reading;
        if (!there || !here || there->median <= 0 || there->unit != here->unit) continue;
        if (!seen.insert(key).second) continue;
        changes.push_back(change_of(now.tables, row, *there, *here));
        changes.back().gpu = step.gpu.empty() ? "" : gpu_label(now, step.gpu);
      }
    }
  }
  return changes;
}

Table table_of(const std::vector<Change>& changes) {
  Table table;
  table.columns = {{"figure", Align::left, false},  {"GPU", Align::left, false},
                   {"before", Align::right, false}, {"now", Align::right, false},
                   {"change", Align::right, false}, {"noise", Align::right, false},
                   {"", Align::left, false}};
  for (const Change& change : changes) {
    const char* word = !change.beyond ? "" : change.better ? "faster" : "slower";
    const State state = !change.beyond ? State::info : change.better ? State::ok : State::warning;
    const std::string reading = change.reading == "rate" ? "" : ", " + change.reading;
    table.rows.push_back({{change.title + reading, State::info},
                          {change.gpu, State::info},
                          {figure_text(change.before, ""), State::info},
                          {figure_text(change.now, change.unit), State::info},
                          {fmt::format("{:+.1f} %", change.percent), state},
                          {fmt::format("{:.1f} %", change.noise), State::info},
                          {word, state}});
  }
  return table;
}

std::string verdict_of(const std::vector<Change>& changes) {
  const auto count = [&](bool better) {
    return std::count_if(changes.begin(), changes.end(), [&](const Change& change) {
      return change.beyond && change.better == better;
    });
  };
  const auto slower = count(false), faster = count(true);
  if (slower == 0 && faster == 0)
    return fmt::format("Alike: {} figures are within their noise.", changes.size());
  return fmt::format("{} of {} figures became slower, {} faster.", slower, changes.size(), faster);
}

} // namespace

Report compare_runs(const Measurements& before, const Measurements& now, const VerifyTables& tables,
                    const Facts& facts) {
  const VerifyCase old = verify_case(before, tables, facts),
                   current = verify_case(now, tables, facts);
  const std::vector<Change> changes = changes_of(old, current);
  Report report;
  if (changes.empty()) {
    report.verdict = "Nothing to compare: no figure was measured in both runs.";
    report.state = State::unknown;
  } else {
    report.verdict = verdict_of(changes);
    const bool slower = std::any_of(changes.begin(), changes.end(), [](const Change& change) {
      return change.beyond && !change.better;
    });
    report.state = slower ? State::warning : State::ok;
    report.tables.push_back(table_of(changes));
  }
  const std::vector<std::string> around = changed_around(old, current);
  if (!around.empty()) {
    Finding finding;
    finding.id = "changed-around";
    finding.state = State::info;
    finding.title = "what changed around them:";
    finding.evidence = around;
    report.findings.push_back(std::move(finding));
  }
  if (!before.started.empty() || !now.started.empty())
    report.notes.push_back(fmt::format("before: {}; now: {}",
                                       before.started.empty() ? "not told" : before.started,
                                       now.started.empty() ? "not told" : now.started));
  return report;
}

} // namespace gpuvet
