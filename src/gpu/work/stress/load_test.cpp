// The load's checks, each with the fault that only it can find.
#include "gpu/kernels/mix.hpp"
#include "gpu/testing/steps.hpp"
#include "gpu/work/stress/load.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

constexpr ProductShape kShape = {256, 256, 256};

void flip(Load& load, CudaPointer word, uint32_t mask) {
  launch(load.bench, load.bench.kernel("core", "gv_flip"), 1, 1, 0, load.stream, word, mask);
}

void multiply_often(Load& load) {
  for (unsigned at = 0; at < 24; ++at) {
    begin(load, load.halves[0], 4);
    finish(load, load.halves[0]);
  }
}

struct Made : Load {
  Made(Bench& bench_, const StepOptions& options_) : Load(bench_, options_, kShape) {
    engine = own_engines(bench_, kShape).front();
  }
};

void run_right(Bench& bench, const StepOptions& options) {
  Made load(bench, options);
  prove(load);
  multiply_often(load);
}

// Kernels and golden hashes then agree on a product of other numbers.
void run_other_operands(Bench& bench, const StepOptions& options) {
  Made load(bench, options);
  launch(bench, bench.kernel("core", "gv_operands"), 64, 256, 0, load.stream, load.a.at(),
         kShape.a_words(), uint64_t{0}, load.seeds.a + 1, exact_bound(kShape.inner));
  prove(load);
}

// 0 becomes -0: no product changes.
void run_operand_that_does_not_matter(Bench& bench, const StepOptions& options) {
  Made load(bench, options);
  prove(load);
  uint64_t zero = 0;
  while (operand(zero, load.seeds.b, exact_bound(kShape.inner)) != 0)
    ++zero;
  flip(load, load.b.at(zero / 2 * 4), zero % 2 == 0 ? 0x8000u : 0x80000000u);
  multiply_often(load);
}

void run_operand_that_matters(Bench& bench, const StepOptions& options) {
  Made load(bench, options);
  prove(load);
  flip(load, load.a.at(0), 0x8000u | 0x80000000u);
  multiply_often(load);
}

// What is compared with is wrong itself: without it nothing would be compared.
void run_wrong_hash(Bench& bench, const StepOptions& options) {
  Made load(bench, options);
  prove(load);
  flip(load, load.wanted.at(), 1);
  multiply_often(load);
}

const std::vector<Step> kSteps = {
    {"right", 30, run_right},
    {"other-operands", 30, run_other_operands},
    {"operand-that-does-not-matter", 30, run_operand_that_does_not_matter},
    {"operand-that-matters", 30, run_operand_that_matters},
    {"wrong-hash", 30, run_wrong_hash},
};

StepResult run(const char* id) {
  StepOptions options;
  options.seed = 3;
  return run_on_fake(kSteps, id, "free=4,tflops=0.002", options);
}

TEST(Load, FindsNothingWhereNothingIs) {
  StepResult result = run("right");
  EXPECT_EQ(result.state, StepState::done) << result.reason;
}

TEST(Load, TheCpuFindsThatAllOthersAreWrong) {
  StepResult result = run("other-operands");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "is not what the CPU computes")) << result.reason;
}

TEST(Load, LooksAtTheOperandsToo) {
  StepResult result = run("operand-that-does-not-matter");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "an operand in memory is no longer what was written")) << result.reason;
}

TEST(Load, SaysThatAnOperandIsTheCause) {
  StepResult result = run("operand-that-matters");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "an operand in memory has changed since the start")) << result.reason;
}

TEST(Load, ComparesEachProduct) {
  StepResult result = run("wrong-hash");
  EXPECT_EQ(result.state, StepState::failed);
  EXPECT_TRUE(says(result, "computed 8 times again it was right")) << result.reason;
}

} // namespace
} // namespace gpuvet
