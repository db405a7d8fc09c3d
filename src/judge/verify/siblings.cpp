// GPUs of one model in one machine do alike; one that lags behind is told even when each by itself
// is good enough.
#include "judge/verify/rules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

bool is_compared(const VerifyCase& all, const JudgedStep& step) {
  const GpuView* view = find_view(all, step.gpu);
  return view && view->gpu->busy.empty() && step.value && step.verdict != Verdict::skipped;
}

double reference(const VerifySiblings& rule, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  // Of two the median is half way to the slow one.
  if (rule.best || values.size() < 3) return values.back();
  return sample_median(values).value_or(values.back());
}

void raise(const VerifyRow& row, JudgedStep& step, Verdict verdict, const std::string& detail) {
  const bool already =
      step.verdict == Verdict::fail || (step.verdict == Verdict::warn && verdict == Verdict::warn);
  if (already)
    step.evidence.push_back(detail);
  else
    conclude(step, row, verdict, detail);
}

void compare(const VerifyRow& row, const VerifySiblings& rule, const std::string& name,
             const std::vector<JudgedStep*>& steps) {
  std::vector<double> values;
  for (const JudgedStep* step : steps)
    values.push_back(*step->value);
  const double usual = reference(rule, values);
  if (steps.size() < 2 || usual <= 0) return;
  for (JudgedStep* step : steps) {
    const double below = (usual - *step->value) / usual * 100;
    if (below <= rule.warn) continue;
    raise(row, *step, below > rule.fail ? Verdict::fail : Verdict::warn,
          fmt::format("{}, {:.0f} % below {} {} {} of this machine ({})",
                      figure_text(*step->value, step->unit), below,
                      rule.best || steps.size() < 3 ? "the best of" : "the median of", steps.size(),
                      name, figure_text(usual, step->unit)));
  }
}

} // namespace

void judge_siblings(const VerifyCase& all, std::vector<JudgedStep>& steps) {
  for (const VerifySiblings& rule : all.tables.siblings)
    for (const std::string& id : rule.rows) {
      const VerifyRow* row = find_verify_row(all.tables, id);
      std::map<std::string, std::vector<JudgedStep*>> by_model;
      for (JudgedStep& step : steps)
        if (row && step.id == id && is_compared(all, step))
          by_model[find_view(all, step.gpu)->gpu->name].push_back(&step);
      for (const auto& [name, group] : by_model)
        compare(*row, rule, name, group);
    }
}

} // namespace gpuvet
