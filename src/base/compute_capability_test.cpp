#include "base/compute_capability.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(Target, ReadsEverySpelling) {
  for (auto* text : {"8.6", "86", "sm_86", "SM_86", "sm86", "compute_86"})
    EXPECT_EQ(parse_target(text), (Target{86, 0})) << text;
  EXPECT_EQ(parse_target("9.0a"), (Target{90, 'a'}));
  EXPECT_EQ(parse_target("compute_120F"), (Target{120, 'f'}));
  EXPECT_EQ(parse_target("12.1"), (Target{121, 0}));
}

TEST(Target, RefusesWhatIsNone) {
  for (auto* text : {"", "8", "8.", "8.60", "sm_", "sm_8x", "T4", "1234", "0.5", "a", "90b"})
    EXPECT_FALSE(parse_target(text)) << text;
}

TEST(Target, Prints) {
  EXPECT_EQ(sm_name({100, 'f'}), "sm_100f");
  EXPECT_EQ(compute_name({75, 0}), "compute_75");
  EXPECT_EQ(cc_name(121), "12.1");
}

} // namespace
} // namespace gpuvet
