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

TEST(Regex, SaysWhatIsWrong) {
  auto regex = Regex::compile("gemm(");
  ASSERT_FALSE(regex);
  EXPECT_NE(regex.error().what.find("missing"), std::string::npos) << regex.error().what;
}

} // namespace
} // namespace gpuvet
