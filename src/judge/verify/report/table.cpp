#include "judge/verify/report/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

using Group = std::vector<const JudgedStep*>; // of one row

std::string measured_text(const JudgedStep& step) {
  if (!step.value) return "";
  if (step.reading == "mismatches")
    return *step.value == 0 ? "none wrong" : figure_text(*step.value, "") + " wrong";
  return figure_text(*step.value, step.unit);
}

std::optional<double> ratio_of(const JudgedStep& step) {
  if (!step.value || !step.theoretical || *step.theoretical <= 0) return std::nullopt;
  return *step.value / *step.theoretical;
}

std::string ratio_text(const JudgedStep& step) {
  const auto ratio = ratio_of(step);
  return ratio ? share_text(*ratio) : "";
}

std::string asked_text(const JudgedStep& step) {
  if (!step.limit || step.reading == "mismatches") return "";
  if (step.at_most) return "< " + figure_text(*step.limit, step.unit);
  if (step.theoretical && *step.theoretical > 0) return share_text(*step.limit / *step.theoretical);
  return figure_text(*step.limit, step.unit);
}

std::string theoretical_text(const JudgedStep& step) {
  return step.theoretical ? figure_text(*step.theoretical, step.unit) : "";
}

// The worst: by verdict, then by its figure.
const JudgedStep& worst_of(const Group& group) {
  const auto worse = [](const JudgedStep* a, const JudgedStep* b) {
    if (gravity(a->verdict) != gravity(b->verdict))
      return gravity(a->verdict) > gravity(b->verdict);
    if (!a->value || !b->value) return a->value.has_value() && !b->value;
    return a->at_most ? *a->value > *b->value : *a->value < *b->value;
  };
  return **std::min_element(group.begin(), group.end(), worse);
}

std::string spread_text(const Group& group) {
  double least = 0, most = 0;
  bool any = false;
  for (const JudgedStep* step : group) {
    if (!step->value) return "";
    least = any ? std::min(least, *step->value) : *step->value;
    most = any ? std::max(most, *step->value) : *step->value;
    any = true;
  }
  return most > 0 && group.size() > 1 ? fmt::format("{:.1f} %", (most - least) / most * 100) : "";
}

// "fail GPU 3", "warn x4", "pass".
std::string verdict_text(const VerifyCase& all, const Group& group, const JudgedStep& worst) {
  const std::string word = verdict_word(worst.verdict);
  const auto same = std::count_if(group.begin(), group.end(), [&](const JudgedStep* step) {
    return step->verdict == worst.verdict;
  });
  if (static_cast<size_t>(same) == group.size()) return word;
  if (same > 1) return fmt::format("{} x{}", word, same);
  if (!worst.peer.empty() && find_view(all, worst.peer))
    return fmt::format("{} {}-{}", word, find_view(all, worst.gpu)->gpu->ordinal,
                       find_view(all, worst.peer)->gpu->ordinal);
  return word + " " + gpu_label(all, worst.gpu);
}

Table made_table(const VerifyCase& all, const std::string& title, const std::vector<Group>& groups,
                 bool several) {
  Table table;
  table.columns = {{title, Align::left, false},
                   {several ? "worst" : "measured", Align::right, false},
                   {several ? "spread" : "can do", Align::right, false},
                   {"ratio", Align::right, false},
                   {"asked", Align::right, false},
                   {"verdict", Align::left, false}};
  for (const Group& group : groups) {
    const JudgedStep& worst = worst_of(group);
    const State plain = State::info;
    table.rows.push_back({{worst.title, plain},
                          {measured_text(worst), plain},
                          {several ? spread_text(group) : theoretical_text(worst), plain},
                          {ratio_text(worst), plain},
                          {asked_text(worst), plain},
                          {verdict_text(all, group, worst), state_of(worst.verdict)}});
  }
  return table;
}

// Steps that `wanted` takes, a group for each row, in their order.
template <class F> std::vector<Group> grouped(const std::vector<JudgedStep>& steps, F wanted) {
  std::vector<Group> groups;
  std::map<std::string, size_t> places;
  for (const JudgedStep& step : steps) {
    if (!wanted(step)) continue;
    const auto [at, is_new] = places.emplace(step.id, groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(&step);
  }
  return groups;
}

bool is_pair(const VerifyCase& all, const JudgedStep& step) {
  return !step.peer.empty() && find_view(all, step.peer) != nullptr;
}

void add_models(const VerifyCase& all, const std::vector<JudgedStep>& steps,
                std::vector<Table>& tables) {
  std::vector<std::pair<std::string, size_t>> models; // with their number
  for (const GpuView& view : all.gpus) {
    auto at = std::find_if(models.begin(), models.end(),
                           [&](const auto& model) { return model.first == view.gpu->name; });
    if (at == models.end())
      models.emplace_back(view.gpu->name, 1);
    else
      ++at->second;
  }
  for (const auto& model : models) {
    const std::string& name = model.first;
    const auto groups = grouped(steps, [&](const JudgedStep& step) {
      const GpuView* view = find_view(all, step.gpu);
      return view && step.peer.empty() && view->gpu->name == name;
    });
    const std::string title = model.second > 1 ? fmt::format("{} x {}", model.second, name) : name;
    if (!groups.empty()) tables.push_back(made_table(all, title, groups, model.second > 1));
  }
}

// One row each, named by the Python or the library.
void add_environments(const VerifyCase& all, const std::vector<JudgedStep>& steps,
                      std::vector<Table>& tables) {
  Table table;
  table.columns = {{"environment", Align::left, false},
                   {"", Align::left, false},
                   {"verdict", Align::left, false}};
  for (const JudgedStep& step : steps)
    if (!step.peer.empty() && !is_pair(all, step))
      table.rows.push_back({{step.peer, State::info},
                            {step.title, State::info},
                            {verdict_word(step.verdict), state_of(step.verdict)}});
  if (!table.rows.empty()) tables.push_back(std::move(table));
}

} // namespace

State state_of(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass:
    return State::ok;
  case Verdict::warn:
    return State::warning;
  case Verdict::fail:
    return State::fault;
  case Verdict::skipped:
    return State::skipped;
  case Verdict::info:
    return State::info;
  case Verdict::unknown:
    break;
  }
  return State::unknown;
}

int gravity(Verdict verdict) {
  switch (verdict) {
  case Verdict::fail:
    return 5;
  case Verdict::unknown:
    return 4;
  case Verdict::skipped:
    return 3;
  case Verdict::warn:
    return 2;
  case Verdict::pass:
    return 1;
  case Verdict::info:
    break;
  }
  return 0;
}

std::vector<Table> verify_tables_of(const VerifyCase& all, const std::vector<JudgedStep>& steps) {
  std::vector<Table> tables;
  add_models(all, steps, tables);
  const auto pairs = grouped(steps, [&](const JudgedStep& step) { return is_pair(all, step); });
  if (!pairs.empty()) tables.push_back(made_table(all, "between GPUs", pairs, true));
  const auto machine = grouped(steps, [&](const JudgedStep& step) {
    return !find_view(all, step.gpu) && step.peer.empty();
  });
  if (!machine.empty()) tables.push_back(made_table(all, "machine", machine, false));
  add_environments(all, steps, tables);
  return tables;
}

Table published_table(const VerifyCase& all, const std::vector<JudgedStep>& steps) {
  Table table;
  table.columns = {{"published elsewhere", Align::left, false},
                   {"here", Align::right, false},
                   {"there", Align::left, true}};
  const auto groups =
      grouped(steps, [](const JudgedStep& step) { return !step.published.empty(); });
  for (const Group& group : groups) {
    const JudgedStep& worst = worst_of(group);
    std::string there;
    for (const std::string& text : worst.published)
      there += (there.empty() ? "" : "; ") + text;
    const GpuView* view = find_view(all, worst.gpu);
    table.rows.push_back({{worst.title, State::info},
                          {measured_text(worst), State::info},
                          {there + (view ? ", " + view->gpu->name : ""), State::info}});
  }
  return table;
}

} // namespace gpuvet
