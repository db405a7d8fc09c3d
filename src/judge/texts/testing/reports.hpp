// What a pasted report must give, and what it must not.
#pragma once

#include "judge/texts/testing/texts.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {

using Texts = std::vector<std::string>;

inline bool has(const Texts& facts, const std::string& fact) {
  return std::find(facts.begin(), facts.end(), fact) != facts.end();
}

// Each of these facts is there.
inline void expect_all(std::string_view text, const Texts& wanted) {
  Texts facts = facts_of(text);
  for (const std::string& fact : wanted)
    EXPECT_TRUE(has(facts, fact)) << fact << "\n in: " << ::testing::PrintToString(facts);
}

inline void expect_none(std::string_view text, const Texts& unwanted) {
  for (const std::string& fact : facts_of(text))
    for (const std::string& name : unwanted)
      EXPECT_FALSE(fact.starts_with(name)) << fact;
}

} // namespace gpuvet::testing
