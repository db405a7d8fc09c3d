// The table of rules tests itself: each example breaks its rule.
#include "facts/facts.hpp"
#include "judge/lint/lint.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gpuvet {
namespace {

TEST(LintRules, TableIsSound) {
  Facts facts;
  auto tables = facts.lint();
  ASSERT_TRUE(tables) << tables.error().what;
  std::set<std::string> ids;
  for (const LintRule& rule : (*tables)->rules) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_EQ(rule.example.empty(), rule.id == "gpu-not-served") << rule.id;
    EXPECT_EQ(rule.example.empty(), rule.file.empty()) << rule.id;
    EXPECT_TRUE(rule.asks.ends_with("?")) << rule.id;
  }
  auto known = facts.buildvars();
  ASSERT_TRUE(known);
  const std::set<std::string> numbers = {"dotted",   "integer", "cmake",
                                         "prefixed", "gencode", "pair"};
  const std::set<std::string> ptx = {"plus", "cmake", "prefix", "other", "none"};
  std::set<std::string> names;
  for (const LintVariable& row : (*tables)->variables) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    for (const std::string& number : row.numbers)
      EXPECT_TRUE(numbers.count(number)) << row.name << ": " << number;
    for (const std::string& separator : row.separators)
      EXPECT_EQ(separator.size(), 1u) << row.name;
    EXPECT_TRUE(ptx.count(row.ptx)) << row.name;
    EXPECT_FALSE(row.forms.empty()) << row.name;
  }
}

} // namespace
} // namespace gpuvet
