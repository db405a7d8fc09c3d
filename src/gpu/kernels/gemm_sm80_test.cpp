// The kernel of gemm_sm80.cu, thread by thread on this CPU, against a plain product: where it
// copies, what it loads as fragments, in what order its stages are filled and used.
#include "gpu/kernels/gemm_sm80.cu"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using Bf16 = unsigned short;
using Copies = HostBlock::Copies;

struct Done {
  std::vector<float> c;
  std::vector<TileHash> hashes;
  std::vector<unsigned> multiprocessors;
  unsigned bank_conflicts = 0;
  std::string problem;
};

std::vector<Bf16> matrix(unsigned rows, unsigned inner, Word seed) {
  std::vector<Bf16> all(size_t{rows} * inner + 8);
  for (Word i = 0; i < Word{rows} * inner; ++i)
    all[i] = operand(i, seed, exact_bound(inner));
  return all;
}

struct Shape {
  unsigned rows, columns, inner, blocks;
};

Done multiplied(Shape shape, Copies copies) {
  const unsigned tiles = shape.rows / 128 * (shape.columns / 256);
  std::vector<Bf16> a = matrix(shape.rows, shape.inner, 1),
                    b = matrix(shape.columns, shape.inner, 2);
  Done done;
  done.c.assign(size_t{shape.rows} * shape.columns, -1.0f);
  done.hashes.assign(tiles, TileHash{0, 0});
  done.multiprocessors.assign(tiles, ~0u);
  gridDim = {shape.blocks, 1, 1};
  blockDim = {gv_gemm_shape[0], 1, 1};
  for (blockIdx.x = 0; blockIdx.x < shape.blocks; ++blockIdx.x) {
    HostBlock block(gv_gemm_shape[0], gv_gemm_shape[1], copies);
    block.run([&] {
      gv_gemm(a.data(), b.data(), done.c.data(), shape.rows, shape.columns, shape.inner,
              done.hashes.data(), done.multiprocessors.data());
    });
    done.bank_conflicts += block.bank_conflicts;
    done.problem += block.problem;
  }
  return done;
}

void expect_right(Shape shape, Copies copies) {
  Done done = multiplied(shape, copies);
  ASSERT_EQ(done.problem, "");
  EXPECT_EQ(done.bank_conflicts, 0u);
  std::vector<Bf16> a = matrix(shape.rows, shape.inner, 1),
                    b = matrix(shape.columns, shape.inner, 2);
  std::vector<Fold> folds(done.hashes.size(), Fold{0, 0});
  for (unsigned row = 0; row < shape.rows; ++row)
    for (unsigned column = 0; column < shape.columns; ++column) {
      int sum = 0;
      for (unsigned k = 0; k < shape.inner; ++k)
        sum += int_of_bf16(a[row * shape.inner + k]) * int_of_bf16(b[column * shape.inner + k]);
      const unsigned place = row * shape.columns + column;
      ASSERT_EQ(done.c[place], static_cast<float>(sum)) << "row " << row << " column " << column;
      folds[row / 128 * (shape.columns / 256) + column / 256].take(
          place, bits_of(static_cast<float>(sum)));
    }
  for (size_t tile = 0; tile < folds.size(); ++tile) {
    EXPECT_EQ(done.hashes[tile].sum, folds[tile].sum) << tile;
    EXPECT_EQ(done.hashes[tile].mixed, folds[tile].mixed) << tile;
    EXPECT_LT(done.multiprocessors[tile], host_multiprocessors) << tile;
  }
}

TEST(GemmSm80, OneTile) {
  expect_right({128, 256, 128, 1}, Copies::when_waited_for);
  expect_right({128, 256, 128, 1}, Copies::at_once);
}

// Fewer stages in a tile than are copied ahead; more blocks than tiles.
TEST(GemmSm80, ShortTiles) {
  expect_right({256, 256, 64, 1}, Copies::when_waited_for);
  expect_right({256, 256, 32, 3}, Copies::at_once);
}

TEST(GemmSm80, BlockGoesFromTileToTile) {
  expect_right({256, 256, 160, 1}, Copies::at_once);
  expect_right({256, 512, 64, 3}, Copies::when_waited_for);
}

TEST(GemmSm80, HashesMayBeLeftOut) {
  std::vector<Bf16> a = matrix(128, 32, 1), b = matrix(256, 32, 2);
  std::vector<float> c(128 * 256);
  gridDim = {1, 1, 1};
  blockIdx = {0, 0, 0};
  HostBlock block(gv_gemm_shape[0], gv_gemm_shape[1], Copies::at_once);
  block.run([&] { gv_gemm(a.data(), b.data(), c.data(), 128, 256, 32, nullptr, nullptr); });
  EXPECT_EQ(block.problem, "");
  EXPECT_NE(c[128 * 256 - 1], 0.0f);
}

TEST(GemmSm80, EveryTileComesOnceAndNeighboursShareOperands) {
  for (unsigned down : {1u, 15u, 16u, 40u})
    for (unsigned across : {1u, 7u, 32u}) {
      std::set<std::pair<unsigned, unsigned>> seen;
      for (unsigned n = 0; n < down * across; ++n) {
        gemm_sm80::Place tile = gemm_sm80::tile_in_order(n, down, across);
        EXPECT_LT(tile.row, down);
        EXPECT_LT(tile.column, across);
        seen.insert({tile.row, tile.column});
      }
      EXPECT_EQ(seen.size(), size_t{down} * across);
    }
  // 108 multiprocessors of 64 x 32 tiles: 16 rows and 7 columns of tiles, not 4 and 32.
  std::set<unsigned> rows, columns;
  for (unsigned n = 0; n < 108; ++n) {
    rows.insert(gemm_sm80::tile_in_order(n, 64, 32).row);
    columns.insert(gemm_sm80::tile_in_order(n, 64, 32).column);
  }
  EXPECT_EQ(rows.size(), 16u);
  EXPECT_EQ(columns.size(), 7u);
}

TEST(GemmSm80, PipeCountsItsWork) {
  Word out[4] = {};
  gridDim = {1, 1, 1};
  blockIdx = {0, 0, 0};
  HostBlock block(gv_gemm_shape[0], 0, Copies::at_once);
  block.run([&] { gv_pipe(3, out); });
  EXPECT_EQ(block.problem, "");
  EXPECT_GT(out[0], 0u);
  EXPECT_GT(out[1], 0u);
  EXPECT_EQ(out[2], Word{3} * 8 * 8 * 4096); // rounds, products of a warp, warps, FLOP of a product
  EXPECT_EQ(out[3], 0u);
}

} // namespace
} // namespace gpuvet
