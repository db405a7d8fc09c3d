#include "judge/verify/exit_status.hpp"

#include <algorithm>

namespace gpuvet {

bool is_incomplete(const JudgedStep& step, const VerifyPolicy& policy) {
  const bool open = step.verdict == Verdict::skipped || step.verdict == Verdict::unknown;
  if (!step.required || !open) return false;
  return policy.allowed_skips.count(step.id) == 0 &&
         (step.step.empty() || policy.allowed_skips.count(step.step) == 0);
}

int verify_exit_status(const std::vector<JudgedStep>& steps, const VerifyPolicy& policy,
                       bool interrupted) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const JudgedStep& step) { return step.verdict == verdict; });
  };
  if (interrupted) return 130;
  if (any(Verdict::fail)) return 1;
  const bool incomplete = std::any_of(steps.begin(), steps.end(), [&](const JudgedStep& step) {
    return is_incomplete(step, policy);
  });
  if (incomplete || !any(Verdict::pass)) return 3;
  return policy.strict && any(Verdict::warn) ? 4 : 0;
}

} // namespace gpuvet
