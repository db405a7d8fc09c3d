#include "base/text.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using Words = std::vector<std::string>;

TEST(Text, WordsAndParts) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(words_of("  nvidia 1 \t2  "), (Words{"nvidia", "1", "2"}));
  EXPECT_EQ(words_of(" "), Words{});
  EXPECT_EQ(split_at("a,,b", ','), (Words{"a", "", "b"}));
  EXPECT_EQ(split_at("", ','), (Words{""}));
}

TEST(Text, KeyAndValueBreakAtTheFirstSeparator) {
  auto pair = key_and_value("Bus Location: \t 0000:65:00.0", ':');
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->first, "Bus Location");
  EXPECT_EQ(pair->second, "0000:65:00.0");
  EXPECT_FALSE(key_and_value("no separator", ':'));
}

TEST(Text, NumbersAreTheWholeText) {
  EXPECT_EQ(decimal_number("238"), 238u);
  EXPECT_FALSE(decimal_number("238 "));
  EXPECT_FALSE(decimal_number(""));
  EXPECT_FALSE(decimal_number("-1"));
  EXPECT_FALSE(decimal_number("99999999999999999999"));
  EXPECT_EQ(hexadecimal_number("0x10de"), 0x10deu);
  EXPECT_EQ(hexadecimal_number("ff"), 255u);
  EXPECT_FALSE(hexadecimal_number("0x"));
}

TEST(Text, QuotesComeOffInPairs) {
  EXPECT_EQ(unquoted("\"a b\""), "a b");
  EXPECT_EQ(unquoted("'x'"), "x");
  EXPECT_EQ(unquoted("\"x'"), "\"x'");
  EXPECT_EQ(unquoted("\""), "\"");
}

} // namespace
} // namespace gpuvet
