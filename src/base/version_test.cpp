#include "base/version.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(Version, ComparesNumbersNotText) {
  EXPECT_LT(parse_version("9.2"), parse_version("10.0"));
  EXPECT_LT(parse_version("525.60.13"), parse_version("525.105.17"));
  EXPECT_EQ(parse_version("580.65.06"), parse_version("580.65.6"));
}

TEST(Version, MissingPartsAreZero) {
  EXPECT_EQ(parse_version("13"), parse_version("13.0"));
}

TEST(Version, TakesTheNumericHead) {
  EXPECT_EQ(to_string(*parse_version("2.11.0+cu130")), "2.11.0");
  EXPECT_EQ(to_string(*parse_version("12.8.")), "12.8");
}

TEST(Version, RefusesWhatIsNone) {
  EXPECT_FALSE(parse_version(""));
  EXPECT_FALSE(parse_version("v1"));
  EXPECT_FALSE(parse_version("99999999999.1"));
}

} // namespace
} // namespace gpuvet
