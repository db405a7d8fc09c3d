#include "base/units.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(HumanBytes, KeepsThreeFigures) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.00 KB");
  EXPECT_EQ(human_bytes(13'900), "13.9 KB");
  EXPECT_EQ(human_bytes(456'142'457), "456 MB");
  EXPECT_EQ(human_bytes(999'600), "1.00 MB");
}

} // namespace
} // namespace gpuvet
