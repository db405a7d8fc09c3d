#include "gpu/work/stress/chunks.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(Chunks, LeaveSomeToOthers) {
  EXPECT_EQ(reserve_of(140'000'000'000), 2'800'000'000u); // 2 %
  EXPECT_EQ(reserve_of(8'000'000'000), 400'000'000u);
  EXPECT_EQ(reserve_of(100'000'000), 50'000'000u);
  EXPECT_EQ(reserve_of(0), 0u);
}

TEST(Chunks, ProveNothingWhenMuchWasRefused) {
  MemoryChunks memory;
  memory.wanted = 100 << 20;
  EXPECT_FALSE(is_enough(memory));
  memory.bytes = 88 << 20;
  EXPECT_FALSE(is_enough(memory));
  memory.bytes = 92 << 20;
  EXPECT_TRUE(is_enough(memory));
  memory.wanted = memory.bytes = 0;
  EXPECT_FALSE(is_enough(memory));
}

} // namespace
} // namespace gpuvet
