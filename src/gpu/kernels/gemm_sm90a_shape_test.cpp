// The Hopper GEMM's arithmetic of places, without a GPU: what PTX ISA says about fragments, swizzle
// and descriptors is written down here a second time, and the product must come out right.
#include "gpu/kernels/gemm_sm90a_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace gpuvet::sm90a {
namespace {

TEST(GemmSm90a, FragmentsAreThoseOfTheManual) {
  // PTX ISA, figure of the D fragment of wgmma .m64nNk16: T0 holds (0,0) (0,1) (8,0) (8,1) (0,8)
  struct {
    unsigned thread, index, row, column;
  } rows[] = {{0, 0, 0, 0},    {0, 1, 0, 1},     {0, 2, 8, 0},       {0, 3, 8, 1},
              {0, 4, 0, 8},    {1, 0, 0, 2},     {3, 1, 0, 7},       {4, 0, 1, 0},
              {31, 0, 7, 6},   {31, 3, 15, 7},   {32, 0, 16, 0},     {96, 2, 56, 0},
              {127, 3, 63, 7}, {0, 124, 0, 248}, {127, 127, 63, 255}};
  for (auto [thread, index, row, column] : rows) {
    EXPECT_EQ(fragment_row(thread, index), row) << thread << " " << index;
    EXPECT_EQ(fragment_column(thread, index), column) << thread << " " << index;
  }
}

TEST(GemmSm90a, EveryElementIsInOneFragment) {
  std::vector<int> held(kConsumerRows * kTileColumns);
  for (unsigned thread = 0; thread < kWarpgroup; ++thread)
    for (unsigned index = 0; index < kAccumulators; ++index)
      ++held[fragment_row(thread, index) * kTileColumns + fragment_column(thread, index)];
  EXPECT_EQ(std::count(held.begin(), held.end(), 1), std::ptrdiff_t{64 * 256});
}

// The kernel computes with places of thread 0 added to the thread's own.
TEST(GemmSm90a, PlacesOfThreadAndAccumulatorAdd) {
  for (unsigned thread = 0; thread < kWarpgroup; ++thread)
    for (unsigned index = 0; index < kAccumulators; ++index) {
      EXPECT_EQ(fragment_row(thread, index), fragment_row(thread, 0) + fragment_row(0, index));
      EXPECT_EQ(fragment_column(thread, index),
                fragment_column(thread, 0) + fragment_column(0, index));
      EXPECT_TRUE(fragment_row(0, index) == 0 || fragment_row(0, index) == 8);
    }
}

TEST(GemmSm90a, AWarpStoresWholeSectors) {
  for (unsigned index = 0; index < kAccumulators; index += 2) {
    std::set<unsigned> bytes;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned byte = 0; byte < 8; ++byte)
        bytes.insert((fragment_row(lane, index) * kTileColumns + fragment_column(lane, index)) * 4 +
                     byte);
    EXPECT_EQ(bytes.size(), 256u);
    std::set<unsigned> sectors;
    for (unsigned byte : bytes)
      sectors.insert(byte / 32);
    EXPECT_EQ(sectors.size(), 8u);
  }
}

TEST(GemmSm90a, DescriptorHasItsFields) {
  unsigned long long word = operand_descriptor(0x1A400);
  EXPECT_EQ(word & 0x3FFF, 0x1A40u);   // address / 16
  EXPECT_EQ(word >> 16 & 0x3FFF, 1u);  // leading stride, not used
  EXPECT_EQ(word >> 32 & 0x3FFF, 64u); // 8 rows of 128 bytes / 16
  EXPECT_EQ(word >> 49 & 7, 0u);       // base offset
  EXPECT_EQ(word >> 62, 1u);           // 128-byte swizzle
  EXPECT_EQ(word & ~0xC00E3FFF3FFF3FFFull, 0u);
  EXPECT_EQ(kDescriptorStep * 16, 32u);
}

TEST(GemmSm90a, SharedMemoryHoldsWhatIsPutThere) {
  // 227 KB is what a block of compute capability 9.0 may have (CUDA programming guide, table of
  // technical specifications).
  EXPECT_LE(kSharedBytes, 227u * 1024);
  EXPECT_LE(kConsumerRegisters * kConsumers * kWarpgroup + kProducerRegisters * kWarpgroup, 65536u);
  Stages stages = {5 * kSwizzleRepeat};
  std::vector<int> used(kSharedBytes);
  auto take = [&](unsigned from, unsigned bytes, unsigned alignment) {
    EXPECT_EQ(from % alignment, 0u);
    for (unsigned i = from; i < from + bytes; ++i)
      ++used.at(i - stages.base);
  };
  for (unsigned stage = 0; stage < kStages; ++stage) {
    for (unsigned part = 0; part < 2; ++part) {
      take(stages.a(stage, part), kConsumerRows * kRowBytes, kSwizzleRepeat);
      take(stages.b(stage, part), kBoxRows * kRowBytes, kSwizzleRepeat);
    }
    take(stages.full(stage), kBarrierBytes, 8);
    take(stages.empty(stage), kBarrierBytes, 8);
  }
  EXPECT_EQ(*std::max_element(used.begin(), used.end()), 1);
  EXPECT_EQ(std::count(used.begin(), used.end(), 1),
            std::ptrdiff_t{kStages} * (kStageBytes + 2 * kBarrierBytes));
}

// ---- one stage, from the copies to the accumulators

// Bits 4-6 of the address are exchanged by bits 7-9: PTX ISA, "128-byte swizzle".
unsigned swizzled(unsigned address) {
  return address ^ (address >> 7 & 7) << 4;
}

using Memory = std::vector<short>; // by address / 2

// A copy of a box: rows of 128 bytes one after the other, swizzled.
void copy_box(Memory& shared, unsigned to, const std::vector<short>& matrix, unsigned row) {
  for (unsigned r = 0; r < kBoxRows; ++r)
    for (unsigned k = 0; k < kInnerStep; ++k)
      shared.at(swizzled(to + r * kRowBytes + k * 2) / 2) = matrix.at((row + r) * kInnerStep + k);
}

// What an instruction reads by a descriptor: row `r`, element `k` of 16.
short read_operand(const Memory& shared, unsigned long long descriptor, unsigned r, unsigned k) {
  auto start = static_cast<unsigned>(descriptor & 0x3FFF) << 4;
  unsigned stride = static_cast<unsigned>(descriptor >> 32 & 0x3FFF) << 4;
  return shared.at(swizzled(start + r / 8 * stride + r % 8 * 128 + k * 2) / 2);
}

std::vector<short> numbers(unsigned rows, Word seed) {
  std::vector<short> all(rows * kInnerStep);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<short>(mix64(i + seed) % 200) - 100;
  return all;
}

// As the kernel does for one consumer.
std::vector<int> multiply_stage(const Memory& shared, const Stages& stages, unsigned stage,
                                unsigned consumer) {
  std::vector<int> d(kConsumerRows * kTileColumns);
  unsigned long long a = operand_descriptor(stages.a(stage, consumer));
  unsigned long long b = operand_descriptor(stages.b(stage));
  for (unsigned i = 0; i < kInstructions; ++i, a += kDescriptorStep, b += kDescriptorStep)
    for (unsigned row = 0; row < kConsumerRows; ++row)
      for (unsigned column = 0; column < kTileColumns; ++column)
        for (unsigned k = 0; k < kInstructionInner; ++k)
          d[row * kTileColumns + column] +=
              read_operand(shared, a, row, k) * read_operand(shared, b, column, k);
  return d;
}

TEST(GemmSm90a, AStageMultipliesToTheProduct) {
  std::vector<short> a = numbers(kTileRows, 1), b = numbers(kTileColumns, 2);
  Stages stages = {5 * kSwizzleRepeat};
  Memory shared((stages.base + kSharedBytes) / 2);
  const unsigned stage = 3;
  copy_box(shared, stages.a(stage), a, 0);
  for (unsigned half = 0; half < 2; ++half)
    copy_box(shared, stages.b(stage, half), b, half * kBoxRows);
  for (unsigned consumer = 0; consumer < kConsumers; ++consumer) {
    std::vector<int> got = multiply_stage(shared, stages, stage, consumer), wanted(got.size());
    for (unsigned row = 0; row < kConsumerRows; ++row)
      for (unsigned column = 0; column < kTileColumns; ++column)
        for (unsigned k = 0; k < kInnerStep; ++k)
          wanted[row * kTileColumns + column] +=
              a[(consumer * kConsumerRows + row) * kInnerStep + k] * b[column * kInnerStep + k];
    EXPECT_EQ(got, wanted) << consumer;
  }
}

// ---- the order of tiles

template <unsigned kBlocks>
std::vector<int> visits(unsigned rows, unsigned columns, unsigned grid) {
  std::vector<int> visited(rows / kTileRows * (columns / kTileColumns));
  for (unsigned block = 0; block < grid; ++block)
    for (Walk<kBlocks> walk(rows, columns, block, grid, block % kBlocks); walk.goes_on();
         walk.next()) {
      TilePlace tile = walk.tile();
      EXPECT_LT(tile.row, walk.row_tiles);
      EXPECT_LT(tile.column, walk.column_tiles);
      ++visited.at(tile.row * walk.column_tiles + tile.column);
    }
  return visited;
}

TEST(GemmSm90a, EveryTileIsMadeOnce) {
  for (unsigned rows : {256u, 512u, 768u, 2048u, 2304u, 8192u})
    for (unsigned columns : {256u, 512u, 1280u, 8192u})
      for (unsigned grid : {2u, 14u, 114u, 132u, 144u}) {
        std::vector<int> once(rows / kTileRows * (columns / kTileColumns), 1);
        EXPECT_EQ(visits<1>(rows, columns, grid), once) << rows << "x" << columns << " " << grid;
        EXPECT_EQ(visits<1>(rows, columns, grid - 1), once);
        EXPECT_EQ(visits<kPair>(rows, columns, grid), once);
      }
}

TEST(GemmSm90a, BlocksOfAPairHaveTheSameColumns) {
  Walk<kPair> upper(2304, 1280, 4, 132, 0), lower(2304, 1280, 5, 132, 1);
  for (; upper.goes_on(); upper.next(), lower.next()) {
    ASSERT_TRUE(lower.goes_on());
    EXPECT_EQ(upper.tile().column, lower.tile().column);
    EXPECT_EQ(upper.tile().row + 1, lower.tile().row);
    EXPECT_EQ(upper.tile().row % 2, 0u);
  }
  EXPECT_FALSE(lower.goes_on());
}

// What runs at once reads few rows of A and columns of B: the worst shape of 132 tiles would be a
// single column of tiles, 132 + 1.
TEST(GemmSm90a, TilesThatRunAtOnceAreNeighbours) {
  const unsigned row_tiles = 64, column_tiles = 32, at_once = 132;
  for (unsigned wave = 0; (wave + 1) * at_once <= row_tiles * column_tiles; ++wave) {
    std::set<unsigned> rows, columns;
    for (unsigned i = 0; i < at_once; ++i) {
      TilePlace tile = tile_place(wave * at_once + i, row_tiles, column_tiles, kBand);
      rows.insert(tile.row);
      columns.insert(tile.column);
    }
    EXPECT_LE(rows.size() * kTileRows + columns.size() * kTileColumns, 2 * 16 * 128 + 10 * 256u);
  }
}

} // namespace
} // namespace gpuvet::sm90a
