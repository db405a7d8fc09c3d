#include "base/literal_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gpuvet {
namespace {

TEST(LiteralSet, FindsEachWhereverItStands) {
  const std::vector<std::string> literals = {"no kernel image", "nvcc fatal", "Xid (PCI"};
  LiteralSet set(literals);
  for (const std::string& literal : literals)
    for (size_t before = 0; before < 20; ++before)
      for (size_t after = 0; after < 20; ++after) {
        std::string text = std::string(before, 'x') + literal + std::string(after, 'x');
        EXPECT_EQ(set.find(text), before) << literal;
        EXPECT_EQ(set.find(text, before + 1), std::string::npos) << literal;
      }
}

TEST(LiteralSet, TellsAllOfALineOnce) {
  LiteralSet set({"CUDA error", "out of memory", "error: out", "never seen"});
  EXPECT_EQ(set.all_in("CUDA error: out of memory, CUDA error"), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_TRUE(set.all_in("CUDA erroR: out 0f memory").empty());
}

TEST(LiteralSet, EmptySetsAndShortTexts) {
  LiteralSet none({});
  EXPECT_EQ(none.find("anything at all"), std::string::npos);
  LiteralSet set({"abc", "abcd"}); // the first is too short to be looked for
  EXPECT_EQ(set.find(""), std::string::npos);
  EXPECT_EQ(set.find("abc"), std::string::npos);
  EXPECT_EQ(set.find("abcd"), 0U);
  EXPECT_EQ(set.find("abcd", 4), std::string::npos);
  EXPECT_EQ(set.all_in("xabcd"), (std::vector<uint32_t>{1}));
}

// Against the plain search, over texts of few letters, where everything nearly matches.
TEST(LiteralSet, AgreesWithThePlainSearch) {
  std::mt19937 random(7);
  auto some = [&](size_t length) {
    std::string text;
    while (text.size() < length)
      text += "ab\n"[random() % 3];
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> literals;
    for (size_t i = 0; i < 1 + random() % 6; ++i)
      literals.push_back(some(4 + random() % 6));
    LiteralSet set(literals);
    std::string text = some(random() % 80);
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < literals.size(); ++i)
      if (text.find(literals[i]) != std::string::npos) expected.push_back(i);
    ASSERT_EQ(set.all_in(text), expected) << text;
    ASSERT_EQ(set.find(text) != std::string::npos, !expected.empty()) << text;
  }
}

} // namespace
} // namespace gpuvet
