#include "judge/verify/report/findings.hpp"

#include "base/text.hpp"
#include "judge/verify/report/table.hpp"

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

// The other GPUs with the same verdict on the same row: what differs is told, not the sentence
// again.
void add_others(const VerifyCase& all, const std::vector<const JudgedStep*>& group,
                Finding& finding) {
  const JudgedStep& first = *group.front();
  std::vector<std::string> same, others;
  for (size_t i = 1; i < group.size(); ++i) {
    const JudgedStep& step = *group[i];
    const std::string place = place_text(all, step);
    if (step.why == first.why)
      same.push_back(place);
    else if (step.value && first.value)
      others.push_back(place + ": " + figure_text(*step.value, step.unit));
    else
      others.push_back(place + ": " + step.why);
  }
  if (!same.empty()) finding.evidence.push_back("the same: " + joined(same));
  for (size_t i = 0; i < others.size() && i < kMostLines; ++i)
    finding.evidence.push_back(others[i]);
  if (others.size() > kMostLines)
    finding.evidence.push_back(fmt::format("and {} more", others.size() - kMostLines));
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
  add_others(all, group, finding);
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

} // namespace

std::string title_text(const VerifyCase& all, const JudgedStep& step) {
  const std::string place = place_text(all, step);
  return step.title + (place.empty() ? "" : ", " + place);
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

} // namespace gpuvet
