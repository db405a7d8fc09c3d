// The language of conditions: every form, and that what is misspelt is refused.
#include "facts/signatures/condition.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

Condition parsed(std::string_view text) {
  auto condition = parse_condition(text);
  EXPECT_TRUE(condition) << text << ": " << (condition ? "" : condition.error().what);
  return condition ? *condition : Condition{};
}

TEST(Condition, FieldAgainstRegex) {
  Condition c = parsed("field arch matches ^compute_ $");
  EXPECT_EQ(c.kind, Condition::Kind::compare);
  EXPECT_EQ(c.left.kind, Operand::Kind::field);
  EXPECT_EQ(c.left.name, "arch");
  EXPECT_EQ(c.comparison, Comparison::matches);
  EXPECT_EQ(c.right.name, "^compute_ $"); // spaces are kept
}

TEST(Condition, CapabilitiesOfFieldAndFact) {
  Condition c = parsed("field arch sm> fact nvcc.max_sm");
  EXPECT_TRUE(c.capabilities);
  EXPECT_EQ(c.comparison, Comparison::greater);
  EXPECT_EQ(c.right.kind, Operand::Kind::fact);
  EXPECT_EQ(c.right.name, "nvcc.max_sm");
}

TEST(Condition, EveryComparison) {
  EXPECT_EQ(parsed("fact a = 1").comparison, Comparison::equal);
  EXPECT_EQ(parsed("fact a != 1").comparison, Comparison::not_equal);
  EXPECT_EQ(parsed("fact a < 1").comparison, Comparison::less);
  EXPECT_EQ(parsed("fact a <= 1").comparison, Comparison::at_most);
  EXPECT_EQ(parsed("fact a > 1").comparison, Comparison::greater);
  EXPECT_EQ(parsed("fact a >= 1").comparison, Comparison::at_least);
  EXPECT_EQ(parsed("fact a known").comparison, Comparison::known);
  EXPECT_FALSE(parsed("fact a >= 1").capabilities);
}

TEST(Condition, LineSeenCheckAndNot) {
  EXPECT_EQ(parsed("line matches (?i)windows").left.kind, Operand::Kind::line);
  Condition seen = parsed("not seen cmake-compiler-unidentified");
  EXPECT_EQ(seen.kind, Condition::Kind::seen);
  EXPECT_TRUE(seen.negated);
  EXPECT_EQ(seen.id, "cmake-compiler-unidentified");
  EXPECT_EQ(parsed("check xid-79 fires").kind, Condition::Kind::check_fires);
  EXPECT_EQ(parsed("check nvcc-shadowed is ok").kind, Condition::Kind::check_ok);
  EXPECT_EQ(parsed("fact torch.cuda = none").right.kind, Operand::Kind::text);
}

TEST(Condition, WhatIsNotUnderstoodIsRefused) {
  for (std::string_view text :
       {"", "not", "arch = 1", "field", "field arch", "field arch like x",
        "field arch =", "field arch = field", "field a known b", "seen", "seen a b", "check a",
        "check a burns", "field a = field b c", "fact a sm~ 5"})
    EXPECT_FALSE(parse_condition(text)) << text;
}

} // namespace
} // namespace gpuvet
