#include "render/unified_diff.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(UnifiedDiff, ShowsThreeLinesAround) {
  EXPECT_EQ(unified_diff("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n", {}),
            "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, FarChangesAreTwoHunks) {
  std::string before, after;
  for (int i = 1; i <= 20; ++i) {
    before += std::to_string(i) + "\n";
    after += (i == 1 || i == 20 ? "X" : std::to_string(i)) + "\n";
  }
  EXPECT_EQ(
      unified_diff("/f", before, after, {}),
      "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-1\n+X\n 2\n 3\n 4\n@@ -17,4 +17,4 @@\n 17\n 18\n 19\n"
      "-20\n+X\n");
}

TEST(UnifiedDiff, EndOfFileWithoutLineEnd) {
  EXPECT_EQ(unified_diff("f", "a", "b", {}),
            "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n"
            "\\ No newline at end of file\n");
  EXPECT_EQ(unified_diff("f", "a\n", "a\n", {}), "");
}

} // namespace
} // namespace gpuvet
