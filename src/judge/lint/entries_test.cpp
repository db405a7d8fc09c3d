#include "facts/facts.hpp"
#include "judge/lint/entries.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(LintEntries, EveryTargetRoundTrips) {
  Facts facts;
  auto rules = facts.load_rules();
  ASSERT_TRUE(rules);
  for (const SassRange& range : (*rules)->sass_ranges)
    for (const char* number : {"dotted", "integer", "cmake", "prefixed"}) {
      ListEntry entry;
      entry.is_target = true;
      entry.target = range.target;
      auto text = spelled(entry, number);
      ASSERT_TRUE(text);
      ListEntry again = parse_entry(*text);
      EXPECT_TRUE(again.is_target) << *text;
      EXPECT_EQ(again.target, range.target) << *text;
      EXPECT_EQ(spelled(again, number), text);
    }
}

TEST(LintEntries, WhatCannotBeSaidIsNotSaid) {
  EXPECT_EQ(spelled(parse_entry("8.6+PTX"), "integer"), std::nullopt);
  EXPECT_EQ(spelled(parse_entry("compute_86"), "dotted"), std::nullopt);
  EXPECT_EQ(spelled(parse_entry("86-virtual"), "dotted"), std::nullopt);
  EXPECT_EQ(spelled(parse_entry("sm_86"), "cmake"), "86-real");
  EXPECT_EQ(spelled(parse_entry("compute_86"), "cmake"), "86-virtual");
  EXPECT_EQ(spelled(parse_entry("8.6+PTX"), "cmake"), "86");
  EXPECT_EQ(spelled(parse_entry("86-real"), "dotted"), "8.6");
  EXPECT_EQ(spelled(parse_entry("5.2(5.0)"), "pair"), "5.2(5.0)");
}

TEST(LintEntries, TensorFlowGivesPtxToTheLast) {
  LintVariable tf;
  tf.numbers = {"dotted", "prefixed"};
  tf.ptx = "prefix";
  std::string used;
  auto targets = code_targets(parse_entries("8.0,9.0", used), tf);
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_FALSE(targets[0].ptx);
  EXPECT_TRUE(targets[1].ptx);
  EXPECT_EQ(used, ",");
}

TEST(LintEntries, NearlySame) {
  EXPECT_TRUE(nearly_same("ampere", "amprere", 1));
  EXPECT_TRUE(nearly_same("hopper", "hoppre", 1));
  EXPECT_TRUE(nearly_same("", "a", 1));
  EXPECT_FALSE(nearly_same("turing", "volta", 2));
}

TEST(LintEntries, Gencode) {
  auto pair = parse_gencode("arch=compute_80,code=[sm_80,\"compute_80\"]");
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->arch, "compute_80");
  EXPECT_EQ(pair->codes, (std::vector<std::string>{"sm_80", "compute_80"}));
  EXPECT_FALSE(parse_gencode("sm_80"));
}

} // namespace
} // namespace gpuvet
