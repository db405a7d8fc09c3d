// What the Hopper GEMM, the host that launches it and the tests must agree on: sizes, the places of
// operands in shared memory, which thread holds which element, the order of tiles, and how barriers
// count. Pure functions of numbers: the tests walk through all of them without a GPU.
//
// Sources: PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"
// (register fragments of D, matrix descriptor, strides), "Tensor swizzling modes",
// "mbarrier.test_wait/try_wait" (parity); CUDA driver API 13.0, cuTensorMapEncodeTiled.
#pragma once

#include "gpu/kernels/mix.hpp"

namespace gpuvet::sm90a {

// A block makes a tile of C in steps of the inner dimension. A step's operands are a stage: 128
// rows of A, then 256 rows of B, each row 64 bf16 = 128 bytes, the width that the 128-byte swizzle
// takes.
constexpr unsigned kTileRows = 128;
constexpr unsigned kTileColumns = 256;
constexpr unsigned kInnerStep = 64;
constexpr unsigned kRowBytes = kInnerStep * 2;
constexpr unsigned kABytes = kTileRows * kRowBytes;
constexpr unsigned kBBytes = kTileColumns * kRowBytes;
constexpr unsigned kStageBytes = kABytes + kBBytes;
constexpr unsigned kStages = 4;

// One warpgroup loads, two multiply: each has 64 rows of the tile, 128 accumulators a thread.
constexpr unsigned kWarpgroup = 128;
constexpr unsigned kConsumers = 2;
constexpr unsigned kConsumerWarps = kConsumers * kWarpgroup / 32;
constexpr unsigned kThreads = (1 + kConsumers) * kWarpgroup;
constexpr unsigned kConsumerRows = kTileRows / kConsumers;
constexpr unsigned kAccumulators = kConsumerRows * kTileColumns / kWarpgroup;
// Of 65536 registers: 232 x 256 + 40 x 128 = 64512. At the launch each thread has 168.
constexpr unsigned kProducerRegisters = 40;
constexpr unsigned kConsumerRegisters = 232;

// The swizzle repeats every 8 rows = 1024 bytes, and an operand begins at such a place. A barrier
// has 8 bytes; each stage has a full and an empty one. 1024 more, as the launch does not promise
// the alignment.
constexpr unsigned kSwizzleRepeat = 1024;
constexpr unsigned kBarrierBytes = 8;
constexpr unsigned kSharedBytes =
    kStages * kStageBytes + 2 * kStages * kBarrierBytes + kSwizzleRepeat;

// gv_gemm_tma2: two blocks with the same columns, one tile of rows below the other, each load half
// of B for both.
constexpr unsigned kPair = 2;

// What one copy brings: A is one box, B two. The same box for both, so that one way to make a
// tensor map is enough.
constexpr unsigned kBoxRows = 128;
static_assert(kBoxRows == kTileRows && 2 * kBoxRows == kTileColumns && kBoxRows <= 256);
// Arguments of cuTensorMapEncodeTiled, as numbered in cuda.h of CUDA 13.0.
constexpr int kMapBf16 = 9;           // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
constexpr int kMapNotInterleaved = 0; // CU_TENSOR_MAP_INTERLEAVE_NONE
constexpr int kMapSwizzle128 = 3;     // CU_TENSOR_MAP_SWIZZLE_128B
constexpr int kMapPromote256 = 3;     // CU_TENSOR_MAP_L2_PROMOTION_L2_256B: two steps of a row
constexpr int kMapFillZero = 0;       // CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE

// gv_pipe: 64 rows of A and 256 of B for two warpgroups.
constexpr unsigned kPipeThreads = kConsumers * kWarpgroup;
constexpr unsigned kPipeRows = kConsumerRows + kTileColumns;
constexpr unsigned long long kPipeRoundFlop =
    2ull * kConsumers * kConsumerRows * kTileColumns * kInnerStep;

// Addresses in shared memory, from a base that is a multiple of kSwizzleRepeat. The blocks of a
// pair have the same, so one may signal the other's barrier by its own address.
struct Stages {
  unsigned base;
  GPUVET_BOTH constexpr unsigned a(unsigned stage, unsigned consumer = 0) const {
    return base + stage * kStageBytes + consumer * kConsumerRows * kRowBytes;
  }
  GPUVET_BOTH constexpr unsigned b(unsigned stage, unsigned half = 0) const {
    return base + stage * kStageBytes + kABytes + half * kBoxRows * kRowBytes;
  }
  GPUVET_BOTH constexpr unsigned full(unsigned stage) const {
    return base + kStages * kStageBytes + stage * kBarrierBytes;
  }
  GPUVET_BOTH constexpr unsigned empty(unsigned stage) const { return full(kStages + stage); }
};

// Row and column, inside a consumer's 64 x 256, of accumulator `index` of thread `thread` of the
// warpgroup: a warp has 16 rows; 4 accumulators are 2 neighbours in a row and 2 eight rows below.
GPUVET_BOTH constexpr unsigned fragment_row(unsigned thread, unsigned index) {
  return thread / 32 * 16 + thread % 32 / 4 + index / 2 % 2 * 8;
}
GPUVET_BOTH constexpr unsigned fragment_column(unsigned thread, unsigned index) {
  return thread % 4 * 2 + index % 2 + index / 4 * 8;
}

// The descriptor of an operand whose rows of 128 bytes lie one after the other, swizzled: address
// in bits 0-13; stride between groups of 8 rows in bits 32-45; both without their low 4 bits; mode
// 1 (128 bytes) in bits 62-63. The leading stride (bits 16-29) is not used in this mode; it is set
// to 1 as everybody does. Base offset (bits 49-51) is 0 where operands begin at kSwizzleRepeat.
GPUVET_BOTH constexpr unsigned long long operand_descriptor(unsigned shared_address) {
  return (shared_address & 0x3FFFFull) >> 4 | 1ull << 16 | (kSwizzleRepeat >> 4) * 1ull << 32 |
         1ull << 62;
}
// One instruction takes 16 of the inner dimension. The next 16 are 32 bytes on: the hardware
// applies the swizzle to the final address, so the start may lie inside the 128 bytes.
constexpr unsigned kInstructionInner = 16;
constexpr unsigned kInstructions = kInnerStep / kInstructionInner;
constexpr unsigned long long kDescriptorStep = kInstructionInner * 2 >> 4;

// The order of tiles: bands of `band` tiles of rows, column after column inside a band, so that the
// blocks that run at once share few rows of A and few of B and the second-level cache serves the
// rest. 16 x 8 tiles of 128 x 256 are near a square for the 132 multiprocessors of an H200.
constexpr unsigned kBand = 16;
struct TilePlace {
  unsigned row, column; // in tiles
};
GPUVET_BOTH constexpr TilePlace tile_place(unsigned index, unsigned row_tiles,
                                           unsigned column_tiles, unsigned band) {
  unsigned first = index / (band * column_tiles) * band;
  unsigned inside = index - first * column_tiles;
  unsigned height = row_tiles - first < band ? row_tiles - first : band;
  return {first + inside % height, inside / height};
}

// The tiles of one block. Blocks that belong together take the same steps, one tile of rows apart.
template <unsigned kBlocks> struct Walk {
  unsigned row_tiles, column_tiles, rank, index, step;

  // `block` of `grid`; `rank` among those that belong together.
  GPUVET_BOTH constexpr Walk(unsigned rows, unsigned columns, unsigned block, unsigned grid,
                             unsigned rank_)
      : row_tiles(rows / kTileRows), column_tiles(columns / kTileColumns), rank(rank_),
        index(block / kBlocks), step(grid / kBlocks) {}
  GPUVET_BOTH constexpr bool goes_on() const { return index < row_tiles / kBlocks * column_tiles; }
  GPUVET_BOTH constexpr void next() { index += step; }
  GPUVET_BOTH constexpr TilePlace tile() const {
    TilePlace at = tile_place(index, row_tiles / kBlocks, column_tiles, kBand / kBlocks);
    return {at.row * kBlocks + rank, at.column};
  }
};

// Where a producer or a consumer is in the ring of stages. `parity` is that of the barrier's phase:
// a consumer waits on `full` with it. A producer waits on `empty` with the other one, which on a
// new barrier is the phase before the first and counts as over: the first round needs no one's
// release.
template <unsigned kCount> struct Ring {
  unsigned stage, parity; // both begin at 0
  GPUVET_BOTH constexpr void next() {
    if (++stage < kCount) return;
    stage = 0;
    parity ^= 1;
  }
  GPUVET_BOTH constexpr unsigned before() const { return (stage + kCount - 1) % kCount; }
  GPUVET_BOTH constexpr unsigned parity_when_empty() const { return parity ^ 1; }
};
using RingPlace = Ring<kStages>;

} // namespace gpuvet::sm90a
