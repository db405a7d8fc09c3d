#include "gpu/work/bandwidth/sizes.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

constexpr uint64_t kGiB = 1024 * kMiB;
const Room kLarge = {140 * kGiB, 500 * kGiB};

TEST(BandwidthSizes, HalfAGibibyteWhereThereIsRoom) {
  BufferSize size = link_buffer(5, 55e9, kLarge, 1, 1);
  EXPECT_EQ(size.bytes, 512 * kMiB);
  EXPECT_EQ(size.word, "512 MiB");
  EXPECT_EQ(link_buffer(5, 12e9, kLarge, 2, 2).bytes, 512 * kMiB);
  EXPECT_EQ(link_buffer(0.4, 55e9, kLarge, 1, 1).bytes, 128 * kMiB);
  EXPECT_EQ(link_buffer(5, 55e9, {140 * kGiB, std::nullopt}, 1, 1).bytes, 512 * kMiB);
}

TEST(BandwidthSizes, ASlowLinkMovesLess) {
  BufferSize size = link_buffer(5, 0.25e9, kLarge, 1, 1); // generation 1, one lane
  EXPECT_EQ(size.bytes, 32 * kMiB);
  EXPECT_EQ(size.word, "32 MiB, since the link moves about 0.25 GB/s");
  EXPECT_EQ(link_buffer(5, 4e9, kLarge, 1, 1).bytes, 190 * kMiB); // 50 ms
}

TEST(BandwidthSizes, LittleMemoryIsSharedAndSaid) {
  BufferSize device = link_buffer(5, 55e9, {256 * kMiB, 500 * kGiB}, 2, 2);
  EXPECT_EQ(device.bytes, 64 * kMiB);
  EXPECT_EQ(device.word, "64 MiB, since the GPU has 256 MiB free");
  BufferSize host = link_buffer(5, 55e9, {140 * kGiB, 2 * kGiB}, 1, 1);
  EXPECT_EQ(host.bytes, 256 * kMiB);
  EXPECT_EQ(host.word, "256 MiB, since the machine has 2048 MiB of memory left for this process");
  EXPECT_EQ(link_buffer(5, 55e9, {0, 0}, 1, 1).bytes, 64 * 1024u); // then the allocation tells
}

TEST(BandwidthSizes, MemoryBuffersPassTheCaches) {
  MemoryBuffers h200 = memory_buffers(5, 60 * kMiB, 140 * kGiB);
  EXPECT_EQ(h200.count, 4u);
  EXPECT_EQ(h200.bytes, 2 * kGiB);
  EXPECT_EQ(h200.segment, 64 * kMiB);
  EXPECT_EQ(h200.word, "4 of 2048 MiB");
  EXPECT_EQ(memory_buffers(0.4, 60 * kMiB, 140 * kGiB).bytes, kGiB);
  EXPECT_GE(memory_buffers(5, 1024 * kMiB, 140 * kGiB).bytes, 4096 * kMiB); // four times the L2
}

TEST(BandwidthSizes, MemoryBuffersOfASmallGpu) {
  MemoryBuffers two_gib = memory_buffers(5, 4 * kMiB, 2 * kGiB);
  EXPECT_EQ(two_gib.count, 4u);
  EXPECT_EQ(two_gib.bytes, 384 * kMiB);
  MemoryBuffers full = memory_buffers(5, 60 * kMiB, 60 * kMiB);
  EXPECT_EQ(full.count, 3u);
  EXPECT_EQ(full.bytes, 16 * kMiB);
  EXPECT_EQ(full.segment, full.bytes);
  EXPECT_EQ(full.word, "3 of 16 MiB, less than 256 MiB since the GPU has 60 MiB free");
  for (uint64_t free = kMiB; free < 4 * kGiB; free += 17 * kMiB + 4096) {
    MemoryBuffers one = memory_buffers(5, 60 * kMiB, free);
    EXPECT_EQ(one.bytes % one.segment, 0u);
    EXPECT_LE(one.bytes * one.count, free);
    EXPECT_EQ(one.bytes % 65536, 0u);
  }
}

TEST(BandwidthSizes, ASampleTakesTwentyMilliseconds) {
  EXPECT_EQ(operations_for(512e6, 55e9), 3u);
  EXPECT_EQ(operations_for(128e6, 55e9), 9u);
  EXPECT_EQ(operations_for(512e6, 0.25e9), 1u);
  EXPECT_EQ(operations_for(1e3, 55e9), kMostBehindGate);
  EXPECT_EQ(operations_for(1e9, 0), 1u); // nothing known yet
}

} // namespace
} // namespace gpuvet
