// C = A * B^T on tensor cores by mma.sync: A is rows x inner, B columns x inner, both bf16 and
// row-major, C rows x columns fp32. For sm_80, 86, 89 and 120; runs on all later ones, but 90 and
// 100 have faster instructions.
//
// A block of 8 warps (2 x 4) computes a tile of 128 x 256, a warp 64 x 64 of it in registers. The
// operands come through shared memory in stages of 32 of `inner`; a ring of 4 stages is filled by
// asynchronous copies that run 3 stages ahead, on into the block's next tile, so that nothing waits
// at the end of a tile. 4 stages are 96 KiB, which sm_86, 89 and 120 have too.
#include "gpu/kernels/mma.hpp"

namespace gpuvet::gemm_sm80 {

constexpr unsigned kThreads = 256;
constexpr unsigned kTileRows = 128, kTileColumns = 256, kStep = 32, kStages = 4;
constexpr unsigned kWarpSide = 64, kWarpsAcross = kTileColumns / kWarpSide;
constexpr unsigned kRowBytes = kStep * 2;
constexpr unsigned kStageBytes = (kTileRows + kTileColumns) * kRowBytes; // rows of A, then of B
constexpr unsigned kSharedBytes = kStages * kStageBytes;
constexpr unsigned kGroup = 16; // rows of tiles that are worked on together: their B stays in L2

// Where in a stage 16 bytes of a row lie. Two rows make 128 bytes, all banks once; without the XOR
// the same chunk of 8 rows, which ldmatrix reads at once, would meet in two banks' groups.
__device__ __forceinline__ unsigned chunk_at(unsigned row, unsigned chunk) {
  return row * kRowBytes + (chunk ^ (row >> 1 & 3)) * 16;
}

struct Place {
  unsigned row, column; // of a tile
};

// The n-th tile to be computed: kGroup rows of tiles are gone through column by column, so that the
// blocks that run at the same time use few rows of A and of B.
__device__ __forceinline__ Place tile_in_order(unsigned n, unsigned down, unsigned across) {
  const unsigned group = n / (kGroup * across), within = n % (kGroup * across);
  const unsigned first = group * kGroup;
  const unsigned rows = down - first < kGroup ? down - first : kGroup;
  return {first + within % rows, within / rows};
}

// Copies stage after stage, tile after tile. A thread brings chunk threadIdx % 4 of rows threadIdx
// / 4,
// + 64, + 128, ...
struct Feed {
  const unsigned short *a, *b; // of the whole matrices
  unsigned inner, down, across;
  unsigned n, left; // tile in order, its stages that are not yet copied
  const unsigned short *from_a, *from_b;

  __device__ __forceinline__ bool real() const { return n < down * across; }
  __device__ __forceinline__ void start_tile() {
    left = inner / kStep;
    if (!real()) return;
    const Place tile = tile_in_order(n, down, across);
    const unsigned row = threadIdx.x / 4, element = threadIdx.x % 4 * 8;
    from_a = a + Word{tile.row * kTileRows + row} * inner + element;
    from_b = b + Word{tile.column * kTileColumns + row} * inner + element;
  }
  // Part 0: A; parts 1 and 2: halves of B.
  __device__ __forceinline__ void copy(unsigned stage, unsigned part) const {
    const unsigned to = stage + chunk_at(threadIdx.x / 4, threadIdx.x % 4);
    const Word rows64 = Word{64} * inner;
    const unsigned short* from = part == 0 ? from_a : from_b + (part - 1) * 2 * rows64;
    copy16(to + part * 2 * 64 * kRowBytes, from, real());
    copy16(to + (part * 2 + 1) * 64 * kRowBytes, from + rows64, real());
  }
  __device__ __forceinline__ void next_stage() {
    from_a += kStep;
    from_b += kStep;
    if (--left != 0) return;
    n += gridDim.x;
    start_tile();
  }
};

// What a warp multiplies at once: 64 rows of A and 64 of B, 16 of `inner`.
struct Fragments {
  unsigned a[4][4]; // 16 rows each
  unsigned b[4][4]; // 16 rows each: two of the 8 columns of C that mma takes
};

// Offsets in a stage of what a lane points ldmatrix to, for the first 16 rows; 16 rows more are 16
// * kRowBytes more.
struct Lane {
  unsigned a, b;
};

__device__ __forceinline__ Lane lane_offsets() {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned row_a = warp / kWarpsAcross * kWarpSide + lane % 16;
  const unsigned row_b = warp % kWarpsAcross * kWarpSide + lane % 8 + lane / 16 * 8;
  return {chunk_at(row_a, lane / 16), kTileRows * kRowBytes + chunk_at(row_b, lane / 8 % 2)};
}

// `half` of a stage: 2 chunks on, which is one bit of the chunk's number.
__device__ __forceinline__ void load(Fragments& to, Lane lane, unsigned stage, unsigned half) {
  for (unsigned i = 0; i < 4; ++i)
    load_matrices(to.a[i], stage + (lane.a ^ half * 32) + i * 16 * kRowBytes);
  for (unsigned i = 0; i < 4; ++i)
    load_matrices(to.b[i], stage + (lane.b ^ half * 32) + i * 16 * kRowBytes);
}

using Sums = float[4][8][4]; // 16 rows, 8 columns, what mma gives a lane

__device__ __forceinline__ void multiply_row(Sums& c, const Fragments& f, unsigned i) {
  for (unsigned j = 0; j < 8; ++j)
    multiply(c[i][j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
}

// Stores a warp's part of C and folds it.
__device__ __forceinline__ Fold store(const Sums& sums, float* c, Place tile, unsigned columns) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned row = tile.row * kTileRows + warp / kWarpsAcross * kWarpSide + lane / 4;
  const unsigned column =
      tile.column * kTileColumns + warp % kWarpsAcross * kWarpSide + lane % 4 * 2;
  Fold fold = {0, 0};
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned half = 0; half < 2; ++half) { // 8 rows below
      const Word place = Word{row + i * 16 + half * 8} * columns + column;
      for (unsigned j = 0; j < 8; ++j) {
        const float2 v = {sums[i][j][half * 2], sums[i][j][half * 2 + 1]};
        store_streaming(reinterpret_cast<float2*>(c + place + j * 8), v);
        fold.take(static_cast<unsigned>(place) + j * 8, bits_of(v.x));
        fold.take(static_cast<unsigned>(place) + j * 8 + 1, bits_of(v.y));
      }
    }
  return fold;
}

__device__ __forceinline__ void add_of_warp(Fold fold, TileHash* out) {
  for (unsigned mask = 16; mask; mask /= 2) {
    fold.sum += exchange(fold.sum, mask);
    fold.mixed ^= exchange(fold.mixed, mask);
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&out->sum, fold.sum);
  atomicXor(&out->mixed, fold.mixed);
}

} // namespace gpuvet::gemm_sm80

using namespace gpuvet::gemm_sm80;

// threads, bytes of shared memory, rows and columns of a tile, step of `inner`, blocks of a
// cluster. Not const: the host could not find it by name.
extern "C" {
__device__ unsigned gv_gemm_shape[6] = {kThreads, kSharedBytes, kTileRows, kTileColumns, kStep, 1};
}

// rows: multiple of 128, columns of 256, inner of 32. Any number of blocks: one for each
// multiprocessor is right. `hashes` (added to) and `multiprocessors` may be null.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gv_gemm(const unsigned short* __restrict__ a, const unsigned short* __restrict__ b,
            float* __restrict__ c, unsigned rows, unsigned columns, unsigned inner,
            gpuvet::TileHash* hashes, unsigned* multiprocessors) {
  const unsigned down = rows / kTileRows, across = columns / kTileColumns;
  const unsigned start = gpuvet::shared_start(), end = start + kSharedBytes;
  const Lane lane = lane_offsets();
  Feed feed = {a, b, inner, down, across, blockIdx.x, 0, a, b};
  feed.start_tile();
  unsigned filled = start;
  for (unsigned stage = 0; stage < kStages - 1; ++stage, filled += kStageBytes) {
    for (unsigned part = 0; part < 3; ++part)
      feed.copy(filled, part);
    gpuvet::commit_copies();
    feed.next_stage();
  }
  gpuvet::wait_for_copies<kStages - 2>();
  gpuvet::barrier();

  Fragments first, second; // of the two halves of a stage
  unsigned used = start;
  load(first, lane, used, 0);
  for (unsigned n = blockIdx.x; n < down * across; n += gridDim.x) {
    Sums sums = {};
    for (unsigned k = 0; k < inner; k += kStep) {
      load(second, lane, used, 1);
      // The stage that is filled was used in the round before; its barrier is between.
      for (unsigned i = 0; i < 4; ++i) {
        multiply_row(sums, first, i);
        if (i < 3) feed.copy(filled, i);
      }
      gpuvet::commit_copies();
      used = used + kStageBytes == end ? start : used + kStageBytes;
      filled = filled + kStageBytes == end ? start : filled + kStageBytes;
      gpuvet::wait_for_copies<kStages - 2>();
      gpuvet::barrier();
      load(first, lane, used, 0);
      for (unsigned i = 0; i < 4; ++i)
        multiply_row(sums, second, i);
      feed.next_stage();
    }
    const Place tile = tile_in_order(n, down, across);
    const unsigned number = tile.row * across + tile.column;
    const gpuvet::Fold fold = store(sums, c, tile, columns);
    if (hashes) add_of_warp(fold, &hashes[number]);
    if (multiprocessors && threadIdx.x == 0) multiprocessors[number] = gpuvet::multiprocessor();
  }
  gpuvet::wait_for_copies<0>();
}

// The tensor cores alone, with nothing to load: how many FLOP a multiprocessor does in a clock. One
// block of 256 threads for each. out: cycles, ns, FLOP of the block; [3] counts sums that are not
// 16 * rounds, which is exact up to 2^20 rounds (it is added to, and only when there are any).
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gv_pipe(gpuvet::Word rounds, gpuvet::Word* out) {
  constexpr unsigned kSums = 8; // independent, so that none waits for the one before
  constexpr unsigned kOnes = 0x3F803F80u;
  float sums[kSums][4] = {};
  const unsigned ones[4] = {kOnes, kOnes, kOnes, kOnes};
  gpuvet::barrier();
  const gpuvet::Word ns = gpuvet::global_ns();
  const long long cycles = clock64();
  for (gpuvet::Word i = 0; i < rounds; ++i)
    for (unsigned j = 0; j < kSums; ++j)
      gpuvet::multiply(sums[j], ones, kOnes, kOnes);
  unsigned wrong = 0;
  for (unsigned j = 0; j < kSums; ++j)
    for (unsigned i = 0; i < 4; ++i)
      wrong += sums[j][i] != 16.0f * static_cast<float>(rounds);
  if (wrong) atomicAdd(&out[3], gpuvet::Word{wrong});
  gpuvet::barrier();
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  out[0] = static_cast<gpuvet::Word>(clock64() - cycles);
  out[1] = gpuvet::global_ns() - ns;
  out[2] = rounds * kSums * (kThreads / 32) * (2 * 16 * 8 * 16);
}
