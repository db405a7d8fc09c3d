// Every combination of three steps that differ in verdict and in whether they are required.
#include "judge/verify/exit_status.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gpuvet {
namespace {

constexpr std::array kAll = {Verdict::pass,    Verdict::warn,    Verdict::fail,
                             Verdict::skipped, Verdict::unknown, Verdict::info};

JudgedStep made(const std::string& id, Verdict verdict, bool required) {
  JudgedStep step;
  step.id = id;
  step.step = "step of " + id;
  step.verdict = verdict;
  step.required = required;
  return step;
}

bool open(const JudgedStep& step) {
  return step.required && (step.verdict == Verdict::skipped || step.verdict == Verdict::unknown);
}

// Said once more in the words of the manual: the first that holds.
int expected(const std::vector<JudgedStep>& steps, bool strict, bool first_allowed) {
  bool fail = false, incomplete = false, pass = false, warn = false;
  for (size_t i = 0; i < steps.size(); ++i) {
    fail = fail || steps[i].verdict == Verdict::fail;
    pass = pass || steps[i].verdict == Verdict::pass;
    warn = warn || steps[i].verdict == Verdict::warn;
    incomplete = incomplete || (open(steps[i]) && !(i == 0 && first_allowed));
  }
  if (fail) return 1;
  if (incomplete || !pass) return 3;
  return strict && warn ? 4 : 0;
}

TEST(VerifyExitStatus, AllCombinations) {
  for (Verdict a : kAll)
    for (Verdict b : kAll)
      for (Verdict c : kAll)
        for (int bits = 0; bits < 32; ++bits) {
          const std::vector<JudgedStep> steps = {made("a", a, bits & 1), made("b", b, bits & 2),
                                                 made("c", c, bits & 4)};
          VerifyPolicy policy;
          policy.strict = bits & 8;
          if (bits & 16) policy.allowed_skips = {"a"};
          EXPECT_EQ(verify_exit_status(steps, policy, false), expected(steps, bits & 8, bits & 16))
              << verdict_word(a) << ' ' << verdict_word(b) << ' ' << verdict_word(c) << ' ' << bits;
          EXPECT_EQ(verify_exit_status(steps, policy, true), 130);
        }
}

TEST(VerifyExitStatus, NothingIsNoPass) {
  EXPECT_EQ(verify_exit_status({}, {}, false), 3);
}

TEST(VerifyExitStatus, TheStepMayBeNamedInsteadOfTheRow) {
  VerifyPolicy policy;
  policy.allowed_skips = {"step of a"};
  const std::vector<JudgedStep> steps = {made("a", Verdict::skipped, true),
                                         made("b", Verdict::pass, true)};
  EXPECT_EQ(verify_exit_status(steps, policy, false), 0);
}

} // namespace
} // namespace gpuvet
