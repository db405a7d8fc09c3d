// gpuvet plants what its tests are to find: a wrong bit, a slow link, a step that never answers. A
// checker that cannot fail proves nothing. The short form runs before all else.
#pragma once

#include "gpu/work/runner.hpp"

#include <string>
#include <vector>

namespace gpuvet {

void self_test_bit(Bench& bench, const StepOptions& options);
void self_test_link(Bench& bench, const StepOptions& options);
void self_test_hang(Bench& bench, const StepOptions& options); // never returns

struct SelfTest {
  int ordinal = 0;
  std::string gpu; // UUID
  uint64_t seed = 1;
  bool thorough = false; // --self-test
};

// One result for each of self_test_steps(). A fault that was found is `done`; one that was missed
// is `failed`.
std::vector<StepResult> run_self_tests(const SelfTest& test, const RunnerOptions& options);

// Of the step that must not answer: ended by the runner, at its deadline, where it waited.
StepResult judge_hang(StepResult result);

} // namespace gpuvet
