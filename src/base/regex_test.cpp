#include "base/regex.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(Regex, FindsAnywhere) {
  auto regex = Regex::compile("gemm.*f16");
  ASSERT_TRUE(regex);
  EXPECT_TRUE(regex->found_in("ampere_s16816gemm_bf16_256"));
  EXPECT_FALSE(regex->found_in("saxpy"));
}

TEST(Regex, ReplacesEachMatch) {
  auto regex = Regex::compile("(a+)(x)?");
  ASSERT_TRUE(regex);
  auto with = [](const Regex::Groups& groups) {
    return "<" + std::string(groups[1]) + (groups[2].empty() ? "" : "!") + ">";
  };
  EXPECT_EQ(regex->replaced("baaxca", with), "b<aa!>c<a>");
  EXPECT_EQ(regex->replaced("", with), "");
  EXPECT_EQ(regex->replaced("bcd", with), "bcd");
  auto empty = Regex::compile("x*");
  EXPECT_EQ(empty->replaced("ab", [](const Regex::Groups&) { return "-"; }), "-a-b");
}

TEST(Regex, SaysWhatIsWrong) {
  auto regex = Regex::compile("gemm(");
  ASSERT_FALSE(regex);
  EXPECT_NE(regex.error().what.find("missing"), std::string::npos) << regex.error().what;
}

} // namespace
} // namespace gpuvet
