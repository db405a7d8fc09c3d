// The kernels of gemm_sm90a.cu themselves, run on this CPU: 384 threads a block, barriers, copies
// and multiplications as the manual says.
// gemm_sm80.cu has these too.
#define gv_pipe gv_pipe_sm90a
#define gv_gemm_shape gv_gemm_shape_sm90a
#include "gpu/kernels/gemm_sm90a.cu"
#include "gpu/testing/host_hopper.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace gpuvet::sm90a {
namespace {

std::vector<unsigned short> operands(Word count, Word seed) {
  std::vector<unsigned short> all(count);
  for (Word i = 0; i < count; ++i)
    all[i] = operand(i, seed, 100);
  return all;
}

TensorMap map_of(const std::vector<unsigned short>& matrix, unsigned rows, unsigned inner) {
  return {{reinterpret_cast<Word>(matrix.data()), rows, inner}};
}

struct Product {
  unsigned rows, columns, inner;
  std::vector<unsigned short> a = operands(Word{rows} * inner, 1),
                              b = operands(Word{columns} * inner, 2);
  std::vector<float> c = std::vector<float>(Word{rows} * columns, NAN);
  std::vector<TileHash> hashes = std::vector<TileHash>(tiles(), TileHash{0, 0});
  std::vector<unsigned> multiprocessors = std::vector<unsigned>(tiles(), ~0u);

  unsigned tiles() const { return rows / kTileRows * (columns / kTileColumns); }

  std::vector<float> wanted() const {
    std::vector<float> all;
    std::vector<int> ia(a.size()), ib(b.size());
    for (size_t i = 0; i < a.size(); ++i)
      ia[i] = int_of_bf16(a[i]);
    for (size_t i = 0; i < b.size(); ++i)
      ib[i] = int_of_bf16(b[i]);
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column) {
        int sum = 0;
        for (size_t k = 0; k < inner; ++k)
          sum += ia[row * inner + k] * ib[column * inner + k];
        all.push_back(static_cast<float>(sum));
      }
    return all;
  }
  TileHash wanted_hash(unsigned tile) const {
    TileHash hash = {0, 0};
    const unsigned across = columns / kTileColumns;
    for (unsigned r = 0; r < kTileRows; ++r)
      for (unsigned s = 0; s < kTileColumns; ++s) {
        const unsigned place =
            (tile / across * kTileRows + r) * columns + tile % across * kTileColumns + s;
        const Word word = hash_word(place, bits_of(c[place]));
        hash.sum += word;
        hash.mixed ^= word;
      }
    return hash;
  }
};

// The name of the first problem, or nothing.
std::string run(Product& product, unsigned together, unsigned grid, bool hashed, Word seed) {
  const TensorMap a = map_of(product.a, product.rows, product.inner);
  const TensorMap b = map_of(product.b, product.columns, product.inner);
  gridDim = {grid, 1, 1};
  host_multiprocessors = grid;
  for (unsigned first = 0; first < grid; first += together) {
    HostCluster cluster(together, kThreads, kSharedBytes, seed + first * 1000003);
    cluster.run(first, [&] {
      (together == 1 ? gv_gemm_tma : gv_gemm_tma2)(
          a, b, product.c.data(), product.rows, product.columns, product.inner,
          hashed ? product.hashes.data() : nullptr, product.multiprocessors.data());
    });
    if (!cluster.problem.empty()) return cluster.problem;
  }
  return {};
}

void expect_right(unsigned together, unsigned grid, Product product, bool hashed = true) {
  ASSERT_EQ(run(product, together, grid, hashed, 7), "");
  EXPECT_TRUE(product.c == product.wanted());
  for (unsigned tile = 0; tile < product.tiles(); ++tile) {
    const TileHash wanted = hashed ? product.wanted_hash(tile) : TileHash{0, 0};
    EXPECT_EQ(product.hashes[tile].sum, wanted.sum) << tile;
    EXPECT_EQ(product.hashes[tile].mixed, wanted.mixed) << tile;
    EXPECT_LT(product.multiprocessors[tile], grid) << tile;
  }
}

TEST(GemmSm90aKernel, MultipliesOneStep) {
  expect_right(1, 2, {256, 256, 64});
  expect_right(1, 2, {256, 256, 64}, false);
}

// More steps than stages, more tiles than blocks, a number of stages that does not divide the
// steps.
TEST(GemmSm90aKernel, GoesRoundTheRingAndOnToTheNextTile) {
  expect_right(1, 3, {256, 512, 64 * 6});
}

TEST(GemmSm90aKernel, PairsShareTheirColumns) {
  expect_right(kPair, 2, {512, 256, 64 * 6});
}

} // namespace
} // namespace gpuvet::sm90a
