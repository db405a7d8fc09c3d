#include "gpu/text.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(Text, AddressesAreWrittenAsSysfsDoes) {
  EXPECT_EQ(sysfs_address("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(sysfs_address("0000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(sysfs_address("00010000:01:00.0"), "10000:01:00.0");
  EXPECT_EQ(sysfs_address("8A3B0000:00:00.0"), "8a3b0000:00:00.0");
  EXPECT_EQ(sysfs_address("0001:00:00.0"), "0001:00:00.0");
  EXPECT_EQ(sysfs_address(""), "");
  EXPECT_EQ(sysfs_address("nonsense"), "nonsense");
}

TEST(Text, UuidsAreWrittenAsNvmlDoes) {
  unsigned char bytes[16];
  for (unsigned char at = 0; at < 16; ++at)
    bytes[at] = static_cast<unsigned char>(0xf0 - at);
  EXPECT_EQ(uuid_text("GPU", bytes), "GPU-f0efeeed-eceb-eae9-e8e7-e6e5e4e3e2e1");
}

TEST(Text, AnEndThatIsMissingIsNotLookedFor) {
  const char text[] = {'a', 'b', 'c'};
  EXPECT_EQ(bounded_text(text, sizeof(text)), "abc");
  EXPECT_EQ(bounded_text("a\0b", 3), "a");
}

} // namespace
} // namespace gpuvet
