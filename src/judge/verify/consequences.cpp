#include "judge/verify/consequences.hpp"

#include <algorithm>
#include <map>

namespace gpuvet {

void stop_after_device_layer(std::vector<JudgedStep>& steps) {
  std::map<std::string, std::string> broken; // GPU to the row that failed
  for (const JudgedStep& step : steps)
    if (step.layer == "device" && step.verdict == Verdict::fail) broken.emplace(step.gpu, step.id);
  for (JudgedStep& step : steps) {
    auto at = broken.find(step.gpu);
    if (at == broken.end()) at = broken.find(step.peer);
    if (at == broken.end() || step.gpu.empty() || step.layer == "device") continue;
    if (step.verdict == Verdict::fail) continue;
    leave_open(step, Verdict::skipped, "the device layer failed on this GPU");
    step.next.clear();
    step.follows = at->second;
  }
}

void void_by_detectors(const VerifyCase& all, std::vector<JudgedStep>& steps) {
  std::map<std::string, const VerifyRow*> rows;
  for (const VerifyRow& row : all.tables.rows)
    rows.emplace(row.id, &row);
  for (size_t i = 0; i < steps.size(); ++i) {
    const JudgedStep detector = steps[i];
    const VerifyRow& row = *rows.at(detector.id);
    const bool blind = detector.value && detector.limit && *detector.value < *detector.limit;
    if (row.rule != VerifyRule::detector || !blind) continue;
    for (JudgedStep& step : steps) {
      const VerifyRule rule = rows.at(step.id)->rule;
      const bool voided = std::find(row.voids.begin(), row.voids.end(), rule) != row.voids.end();
      if (!voided || step.verdict != Verdict::pass) continue;
      leave_open(step, Verdict::unknown, "a fault that was planted for such a check was not found");
      step.follows = row.id;
    }
  }
}

void find_causes(const VerifyCase& all, std::vector<JudgedStep>& steps) {
  const auto is_bad = [](Verdict verdict) {
    return verdict == Verdict::fail || verdict == Verdict::warn;
  };
  std::multimap<std::string, const JudgedStep*> bad; // by the rows that can follow from them
  for (const VerifyRow& row : all.tables.rows)
    for (const JudgedStep& step : steps)
      if (step.id == row.id && is_bad(step.verdict))
        for (const std::string& id : row.causes_of)
          bad.emplace(id, &step);
  for (JudgedStep& step : steps) {
    if (!step.follows.empty() || !(is_bad(step.verdict) || step.verdict == Verdict::unknown))
      continue;
    const auto [first, last] = bad.equal_range(step.id);
    for (auto at = first; at != last; ++at) {
      const JudgedStep& cause = *at->second;
      const bool same =
          cause.gpu.empty() || cause.gpu == step.gpu || cause.gpu == step.peer || step.gpu.empty();
      const bool enough = cause.verdict == Verdict::fail || step.verdict != Verdict::fail;
      if (same && enough) step.follows = cause.id;
    }
  }
}

} // namespace gpuvet
