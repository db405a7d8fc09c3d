#include "judge/verify/targets.hpp"

#include "base/shell.hpp"
#include "judge/verify/rules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace gpuvet {
namespace {

JudgedStep started(const VerifyRow& row) {
  JudgedStep made;
  made.id = row.id;
  made.layer = row.layer;
  made.title = row.title;
  made.step = row.step;
  made.required = row.required;
  made.unit = row.unit;
  return made;
}

// A check found it: no call failed.
bool data_wrong(const VerifyRow& row, const StepResult& step) {
  if (step.state != StepState::failed || row.checked_by.empty()) return false;
  return (step.code == 0 && step.call.empty()) || total_of(step, "mismatches").value_or(0) > 0;
}

// The first row of a step tells when it did not come to its end; the others only point there.
const VerifyRow& first_row(const VerifyTables& tables, const VerifyRow& row) {
  for (const VerifyRow& other : tables.rows)
    if (other.step == row.step) return other;
  return row;
}

void judge_unfinished(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  const VerifyRow& first = first_row(all.tables, target.row);
  if (first.id != target.row.id) {
    const bool ran =
        target.step->state != StepState::not_run && target.step->state != StepState::unsupported;
    leave_open(
        made, Verdict::skipped,
        ran ? "the step did not come to its end, see " + first.title
            : with_stop(target.step->reason.empty() ? "it was not run" : target.step->reason));
    made.follows = first.id;
    return;
  }
  if (!data_wrong(target.row, *target.step)) return judge_stopped(all, target, made);
  if (target.row.rule == VerifyRule::exact) {
    judge_exact(all, target, made);
    return;
  }
  judge_works(all, target, made);
  if (made.verdict == Verdict::fail && !target.step->reason.empty())
    made.why = with_stop(target.step->reason);
}

void tell_published(const VerifyCase& all, const VerifyTarget& target, JudgedStep& made) {
  if (!target.gpu || !target.gpu->known || !made.value) return;
  for (const VerifyPublished& row : all.tables.published) {
    const auto has = [](const std::vector<std::string>& list, const std::string& text) {
      return std::find(list.begin(), list.end(), text) != list.end();
    };
    if (!has(row.rows, made.id) || !has(row.names, target.gpu->known->name)) continue;
    const std::string figures = row.least == row.most ? figure_text(row.most, row.unit)
                                                      : figure_text(row.least, "") + " to " +
                                                            figure_text(row.most, row.unit);
    made.published.push_back(
        fmt::format("{} ({})", figures, row.source.substr(0, row.source.find(','))));
  }
}

// "PYTHON" and "FILE" in what is to be done next are what the step was about, where that is known.
void fill_next(const StepResult& step, JudgedStep& made) {
  const auto put = [&](const std::string& word, const std::string& value) {
    const size_t at = made.next.find(word);
    if (at != std::string::npos && value.starts_with('/'))
      made.next.replace(at, word.size(), shell_word(value));
  };
  put("PYTHON", step.peer);
  put("FILE", word_of(step, "library"));
}

void judge_into(const VerifyCase& all, const VerifyTarget& target, std::vector<JudgedStep>& to) {
  JudgedStep made = started(target.row);
  if (target.step) {
    made.gpu = target.step->gpu;
    made.peer = target.step->peer;
  } else if (target.gpu) {
    made.gpu = target.gpu->gpu->uuid;
  }
  if (target.step && target.step->state != StepState::done)
    judge_unfinished(all, target, made);
  else if (!judge_of(target.row.rule)(all, target, made))
    return;
  if (target.step) fill_next(*target.step, made);
  tell_published(all, target, made);
  to.push_back(std::move(made));
}

std::string why_missing(const VerifyCase& all, const GpuView* view) {
  if (all.gpus.empty())
    return all.measured.no_gpu_why.empty() ? "no GPU was found" : all.measured.no_gpu_why;
  if (view && !view->gpu->why_unusable.empty()) return view->gpu->why_unusable;
  if (all.measured.interrupted) return "the run was interrupted before";
  return "it was not run";
}

// A GPU on which nothing can run has failed its first step.
void add_missing(const VerifyCase& all, const VerifyRow& row, const GpuView* view,
                 const std::string& peer, std::vector<JudgedStep>& to) {
  const bool told = row.required || all.gpus.empty(); // without a GPU every layer is skipped aloud
  if (!told || (row.long_only && all.measured.quick)) return;
  JudgedStep made = started(row);
  if (view) made.gpu = view->gpu->uuid;
  made.peer = peer;
  const bool unusable = view && !view->gpu->why_unusable.empty() && row.layer == "device" &&
                        row.rule == VerifyRule::works && peer.empty();
  if (unusable && first_row(all.tables, row).id == row.id && view->gpu->busy.empty()) {
    conclude(made, row, Verdict::fail, view->gpu->why_unusable);
  } else {
    leave_open(made, Verdict::skipped, why_missing(all, view));
  }
  to.push_back(std::move(made));
}

void judge_row(const VerifyCase& all, const VerifyRow& row, std::vector<JudgedStep>& to) {
  if (row.step.empty()) {
    for (const GpuView& view : all.gpus)
      judge_into(all, {row, nullptr, &view}, to);
  } else {
    for (const StepResult& step : all.measured.steps)
      if (step.id == row.step) judge_into(all, {row, &step, find_view(all, step.gpu)}, to);
  }
  if (all.gpus.empty() && row.scope != VerifyScope::pair) add_missing(all, row, nullptr, "", to);
}

void add_unmeasured(const VerifyCase& all, const VerifyRow& row, std::vector<JudgedStep>& to) {
  if (row.step.empty() || !row.required || all.gpus.empty()) return;
  if (row.scope == VerifyScope::machine) {
    const auto& steps = all.measured.steps;
    if (std::none_of(steps.begin(), steps.end(), [&](const auto& s) { return s.id == row.step; }))
      add_missing(all, row, nullptr, "", to);
    return;
  }
  for (const GpuView& view : all.gpus) {
    const std::string& uuid = view.gpu->uuid;
    if (row.scope == VerifyScope::gpu && !find_step(all, row.step, uuid, ""))
      add_missing(all, row, &view, "", to);
    if (row.scope != VerifyScope::pair || view.mig) continue; // instances have no peers
    for (const GpuView& peer : all.gpus)
      if (&peer != &view && !peer.mig && !find_step(all, row.step, uuid, peer.gpu->uuid))
        add_missing(all, row, &view, peer.gpu->uuid, to);
  }
}

bool is_asked(const std::set<std::string>& layers, const VerifyRow& row) {
  return layers.empty() || layers.count(row.layer) > 0 || row.layer == "self-test" ||
         row.layer == "run";
}

// Rows about the run as a whole exist without a step; where nobody asked, they must not be missed.
void drop_open(std::vector<JudgedStep>& steps) {
  const auto open = [](const JudgedStep& step) {
    return step.step.empty() &&
           (step.verdict == Verdict::skipped || step.verdict == Verdict::unknown);
  };
  steps.erase(std::remove_if(steps.begin(), steps.end(), open), steps.end());
}

} // namespace

VerifyJudge judge_of(VerifyRule rule) {
  switch (rule) {
  case VerifyRule::works:
    return judge_works;
  case VerifyRule::exact:
    return judge_exact;
  case VerifyRule::rate:
    return judge_rate;
  case VerifyRule::of_step:
    return judge_of_step;
  case VerifyRule::latency:
    return judge_latency;
  case VerifyRule::deviation:
    return judge_deviation;
  case VerifyRule::pipe:
    return judge_pipe;
  case VerifyRule::delivered:
    return judge_delivered;
  case VerifyRule::drift:
    return judge_drift;
  case VerifyRule::link:
    return judge_link;
  case VerifyRule::links:
    return judge_links;
  case VerifyRule::clocks:
    return judge_clocks;
  case VerifyRule::counters:
    return judge_counters;
  case VerifyRule::detector:
    return judge_detector;
  case VerifyRule::told:
    break;
  }
  return judge_told;
}

std::vector<JudgedStep> judge_targets(const VerifyCase& all, const std::set<std::string>& layers) {
  std::map<std::string, size_t> order; // of the GPUs
  for (const GpuView& view : all.gpus)
    order.emplace(view.gpu->uuid, order.size() + 1);
  std::vector<JudgedStep> steps;
  for (const VerifyRow& row : all.tables.rows) {
    std::vector<JudgedStep> of_row;
    judge_row(all, row, of_row);
    if (is_asked(layers, row))
      add_unmeasured(all, row, of_row);
    else
      drop_open(of_row);
    const auto place = [&](const JudgedStep& step) {
      const auto at = order.find(step.gpu), peer = order.find(step.peer);
      return std::tuple(at == order.end() ? 0 : at->second, peer == order.end() ? 0 : peer->second);
    };
    std::stable_sort(of_row.begin(), of_row.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
    std::move(of_row.begin(), of_row.end(), std::back_inserter(steps));
  }
  return steps;
}

} // namespace gpuvet
