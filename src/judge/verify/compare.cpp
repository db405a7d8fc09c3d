// Two runs: what became slower or faster beyond its noise, and what changed around it.
#include "judge/verify/figures.hpp"
#include "judge/verify/table.hpp"
#include "judge/verify/verify.hpp"
#include "judge/verify/view.hpp"
#include "judge/verify/window.hpp"

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

// The GPU of the other run: by UUID, else the one in the same place with the same name (two
// machines of one kind).
const GpuView* counterpart(const VerifyCase& other, const GpuView& view) {
  if (const GpuView* same = find_view(other, view.gpu->uuid)) return same;
  for (const GpuView& candidate : other.gpus)
    if (candidate.gpu->ordinal == view.gpu->ordinal && candidate.gpu->name == view.gpu->name)
      return &candidate;
  return nullptr;
}

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

void add_if_differs(std::vector<std::string>& lines, const std::string& what,
                    const std::string& before, const std::string& now) {
  if (before == now || (before.empty() && now.empty())) return;
  lines.push_back(fmt::format("{}: {} before, {} now", what, before.empty() ? "not told" : before,
                              now.empty() ? "not told" : now));
}

std::optional<double> median_clock(const VerifyCase& all, const GpuView& view) {
  std::vector<double> clocks;
  for (const MomentWindow& window : windows_of(all, view))
    for (const GpuMoment* moment : window.moments)
      if (moment->sm_clock_mhz) clocks.push_back(*moment->sm_clock_mhz);
  return sample_median(std::move(clocks));
}

void add_number(std::vector<std::string>& lines, double many, const std::string& what,
                std::optional<double> before, std::optional<double> now, const std::string& unit) {
  if (!before || !now || *before <= 0) return;
  if (std::fabs(*now - *before) / *before * 100 <= many) return;
  lines.push_back(fmt::format("{}: {} before, {} now", what, figure_text(*before, unit),
                              figure_text(*now, unit)));
}

std::string link_of(const VerifyCase& all, const GpuView& view) {
  const auto seen = link_seen(windows_of(all, view));
  return seen ? fmt::format("PCIe {}.0 x{}", seen->generation, seen->width) : "";
}

// Driver, clocks, limits and links: what may be the reason.
std::vector<std::string> changed_around(const VerifyCase& before, const VerifyCase& now) {
  std::vector<std::string> lines;
  add_if_differs(lines, "driver", before.measured.driver, now.measured.driver);
  add_if_differs(lines, "CUDA of the driver", before.measured.cuda, now.measured.cuda);
  add_if_differs(lines, "gpuvet", before.measured.version, now.measured.version);
  add_if_differs(lines, "host", before.measured.host_kind, now.measured.host_kind);
  const double many = verify_number(now.tables, "many");
  for (const GpuView& view : now.gpus) {
    const std::string label = gpu_label(now, view.gpu->uuid);
    const GpuView* old = counterpart(before, view);
    if (!old) {
      lines.push_back(label + " was not in the run before");
      continue;
    }
    if (old->gpu->uuid != view.gpu->uuid)
      lines.push_back(fmt::format("{} is another card: {} before, {} now", label, old->gpu->uuid,
                                  view.gpu->uuid));
    add_number(lines, 0, label + ", power limit", old->number("power_limit_w"),
               view.number("power_limit_w"), "W");
    add_number(lines, 0, label + ", NVLinks up", old->number("nvlinks_active"),
               view.number("nvlinks_active"), "");
    add_number(lines, many, label + ", clock under load", median_clock(before, *old),
               median_clock(now, view), "MHz");
    add_if_differs(lines, label + ", link under load", link_of(before, *old), link_of(now, view));
    add_if_differs(lines, label + ", others that use it", old->gpu->busy, view.gpu->busy);
  }
  for (const GpuView& old : before.gpus)
    if (!counterpart(now, old)) lines.push_back(old.gpu->uuid + " is not in the run now");
  return lines;
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
