#include "judge/rules/require_cuda.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

Properties properties(const char* cuda, const char* driver, const char* brand = "tesla") {
  return {parse_version(cuda), parse_version(driver), Version{{9, 0}}, brand};
}

// As nvidia/cuda images of 12.8 have it, shortened.
const std::string kImage = "cuda>=12.8 brand=unknown,driver>=470,driver<471 "
                           "brand=tesla,driver>=535,driver<536 brand=tesla,driver>=550,driver<551";

TEST(RequireCuda, AlternativesAndConditions) {
  EXPECT_EQ(judge_requirement(kImage, properties("13.0", "580.65")).state, RequirementState::met);
  EXPECT_EQ(judge_requirement(kImage, properties("12.4", "550.54")).state, RequirementState::met);
  EXPECT_EQ(judge_requirement(kImage, properties("12.4", "550.54", "geforce")).state,
            RequirementState::not_met);
  EXPECT_EQ(judge_requirement(kImage, properties("12.6", "560.28")).state,
            RequirementState::not_met);
  EXPECT_EQ(judge_requirement(kImage, properties("12.6", "560.28")).cuda, "12.8");
}

TEST(RequireCuda, WhatIsNotKnown) {
  EXPECT_EQ(judge_requirement(kImage, properties("12.4", "550.54", "")).state,
            RequirementState::not_known);
  EXPECT_EQ(judge_requirement(kImage, properties("13.0", "580.65", "")).state,
            RequirementState::met);
  EXPECT_EQ(judge_requirement("cuda>=12.8", properties("", "")).state, RequirementState::not_known);
  EXPECT_EQ(judge_requirement("colour=red", properties("12.4", "550.54")).state,
            RequirementState::met);
  EXPECT_EQ(judge_requirement("", properties("12.4", "550.54")).state, RequirementState::met);
  EXPECT_EQ(judge_requirement("arch>=10.0", properties("12.4", "550.54")).state,
            RequirementState::not_met);
  EXPECT_EQ(judge_requirement("brand!=tesla", properties("12.4", "550.54")).state,
            RequirementState::not_met);
}

} // namespace
} // namespace gpuvet
