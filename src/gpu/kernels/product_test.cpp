// The kernels of core.cu around matrix products, run on this CPU, against plain C++.
#include "gpu/kernels/core.cu"
#include "gpu/testing/host_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpuvet {
namespace {

using Bf16 = unsigned short;

float value_of(Bf16 operand) {
  return float_of(static_cast<unsigned>(operand) << 16);
}

std::vector<Bf16> operands(Word count, Word first, Word seed, unsigned bound) {
  std::vector<Bf16> data(count);
  run_on_host({2, 1, 1}, {8, 1, 1}, [&] { gv_operands(data.data(), count, first, seed, bound); });
  return data;
}

// A product and its tiles, the plain way.
struct Product {
  unsigned rows, columns, inner, tile_rows, tile_columns;
  std::vector<Bf16> a = operands(Word{rows} * inner, 0, 11, exact_bound(inner));
  std::vector<Bf16> b = operands(Word{columns} * inner, 0, 12, exact_bound(inner));
  std::vector<float> c = product();

  unsigned across() const { return (columns + tile_columns - 1) / tile_columns; }
  unsigned tiles() const { return across() * ((rows + tile_rows - 1) / tile_rows); }

  std::vector<float> product() const {
    std::vector<float> all;
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned s = 0; s < columns; ++s) {
        double sum = 0;
        for (unsigned k = 0; k < inner; ++k)
          sum += double{value_of(a[r * inner + k])} * double{value_of(b[s * inner + k])};
        all.push_back(static_cast<float>(sum));
      }
    return all;
  }
  TileHash plain_hash(unsigned tile) const {
    TileHash hash = {0, 0};
    for (unsigned place = 0; place < rows * columns; ++place) {
      unsigned row = place / columns, column = place % columns;
      if (row / tile_rows * across() + column / tile_columns != tile) continue;
      Word word = Word{bits_of(c[place])} * ((place * 2654435761u) | 1u);
      hash.sum += word;
      hash.mixed ^= word;
    }
    return hash;
  }
  std::vector<TileHash> hashes() const {
    std::vector<TileHash> all(tiles(), TileHash{0, 0});
    run_on_host({3, 1, 1}, {16, 1, 1}, [&] {
      gv_tile_hash(c.data(), rows, columns, tile_rows, tile_columns, all.data());
    });
    return all;
  }
  std::vector<TileHash> golden(const std::vector<unsigned>* named = nullptr) const {
    std::vector<TileHash> all(tiles(), TileHash{0, 0});
    run_on_host({3, 1, 1}, {16, 1, 1}, [&] {
      gv_golden_tiles(a.data(), b.data(), rows, columns, inner, tile_rows, tile_columns,
                      named ? named->data() : nullptr,
                      named ? static_cast<unsigned>(named->size()) : tiles(), all.data());
    });
    return all;
  }
};

std::vector<unsigned> wrong_tiles(const std::vector<TileHash>& got,
                                  const std::vector<TileHash>& wanted,
                                  const std::vector<unsigned>* named = nullptr) {
  unsigned wrong[1 + kWrongTiles] = {};
  unsigned count = static_cast<unsigned>(named ? named->size() : got.size());
  run_on_host({2, 1, 1}, {8, 1, 1}, [&] {
    gv_compare_hashes(got.data(), wanted.data(), named ? named->data() : nullptr, count, wrong);
  });
  std::vector<unsigned> tiles(wrong + 1, wrong + 1 + std::min(wrong[0], kWrongTiles));
  std::sort(tiles.begin(), tiles.end());
  return tiles;
}

bool same(const TileHash& x, const TileHash& y) {
  return x.sum == y.sum && x.mixed == y.mixed;
}

TEST(Products, IntegerOperandsAreInBoundsAndOfBothSigns) {
  for (unsigned bound : {1u, 32u, 45u, 64u, 256u}) {
    std::vector<Bf16> data = operands(20000, 5, 77, bound);
    double sum = 0;
    int least = 0, most = 0;
    for (Word i = 0; i < data.size(); ++i) {
      int value = int_of_bf16(data[i]);
      ASSERT_EQ(static_cast<float>(value), value_of(data[i]));
      ASSERT_TRUE(value != 0 || (5 + i) % 16 != 0) << i;
      least = std::min(least, value);
      most = std::max(most, value);
      sum += value;
    }
    EXPECT_EQ(most, static_cast<int>(bound));
    EXPECT_EQ(least, -static_cast<int>(bound));
    EXPECT_LT(std::abs(sum / 20000), 0.05 * bound + 0.05);
  }
}

TEST(Products, OperandsDependOnTheirPlaceAlone) {
  std::vector<Bf16> all = operands(100, 0, 3, 45), rest = operands(60, 40, 3, 45);
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), all.begin() + 40));
  EXPECT_NE(all, operands(100, 0, 4, 45));
}

TEST(Products, BoundZeroIsNormal) {
  std::vector<Bf16> data = operands(40000, 0, 5, 0);
  double sum = 0, squares = 0, beyond = 0;
  for (Bf16 operand : data) {
    double value = value_of(operand);
    sum += value;
    squares += value * value;
    beyond += std::abs(value) > 1;
  }
  EXPECT_NEAR(sum / 40000, 0, 0.02);
  EXPECT_NEAR(squares / 40000, 1, 0.03);
  EXPECT_NEAR(beyond / 40000, 0.32, 0.03); // of four uniforms; normal: 0.317
}

TEST(Products, BoundKeepsPartialSumsExact) {
  EXPECT_EQ(exact_bound(4096), 64u);
  EXPECT_EQ(exact_bound(8192), 45u);
  EXPECT_EQ(exact_bound(16384), 32u);
  EXPECT_EQ(exact_bound(64), 256u);
  for (unsigned inner : {256u, 1000u, 4096u, 8192u, 65536u})
    EXPECT_LE(Word{exact_bound(inner)} * exact_bound(inner) * inner, 1u << 24) << inner;
}

TEST(Products, Bf16IsRoundedToNearestEven) {
  EXPECT_EQ(bf16_of(1.0f), 0x3F80);
  EXPECT_EQ(bf16_of(-256.0f), 0xC380);
  EXPECT_EQ(bf16_of(float_of(0x3F808000)), 0x3F80);
  EXPECT_EQ(bf16_of(float_of(0x3F818000)), 0x3F82);
  EXPECT_EQ(bf16_of(float_of(0x3F808001)), 0x3F81);
}

// Tiles that end with C and tiles that stand over its edges.
TEST(Products, GoldenTilesAndHashesAgreeWithThePlainProduct) {
  for (const Product& product :
       {Product{64, 64, 64, 32, 64}, Product{100, 84, 40, 24, 40}, Product{8, 12, 8, 128, 256}}) {
    std::vector<TileHash> hashes = product.hashes(), golden = product.golden();
    for (unsigned tile = 0; tile < product.tiles(); ++tile) {
      EXPECT_TRUE(same(hashes[tile], product.plain_hash(tile))) << product.columns << ' ' << tile;
      EXPECT_TRUE(same(golden[tile], product.plain_hash(tile))) << product.columns << ' ' << tile;
    }
    EXPECT_TRUE(wrong_tiles(hashes, golden).empty());
  }
}

TEST(Products, NamedTilesOnly) {
  Product product{100, 84, 40, 32, 48};
  std::vector<unsigned> named = {6, 1};
  std::vector<TileHash> golden = product.golden(&named);
  for (unsigned tile = 0; tile < product.tiles(); ++tile) {
    TileHash wanted = tile == 6 || tile == 1 ? product.plain_hash(tile) : TileHash{0, 0};
    EXPECT_TRUE(same(golden[tile], wanted)) << tile;
  }
  EXPECT_TRUE(wrong_tiles(product.hashes(), golden, &named).empty());
  named.push_back(2);
  EXPECT_EQ(wrong_tiles(product.hashes(), golden, &named), std::vector<unsigned>{2});
}

TEST(Products, EachWrongWordIsFoundInItsTile) {
  Product product{64, 64, 64, 32, 64};
  std::vector<TileHash> golden = product.golden();
  for (unsigned bit = 0; bit < 32; ++bit) {
    Product wrong = product;
    unsigned place = bit * 127;
    wrong.c[place] = float_of(bits_of(wrong.c[place]) ^ (1u << bit));
    EXPECT_EQ(wrong_tiles(wrong.hashes(), golden), std::vector<unsigned>{place / 64 / 32}) << bit;
  }
  for (unsigned bits : {0x7FC00000u, 0xFF800000u, 0x7F800001u}) { // NaN and infinity
    Product wrong = product;
    wrong.c[5] = float_of(bits);
    EXPECT_EQ(wrong_tiles(wrong.hashes(), golden), std::vector<unsigned>{0});
  }
  Product swapped = product;
  std::swap(swapped.c[0], swapped.c[1]);
  ASSERT_NE(swapped.c[0], swapped.c[1]);
  EXPECT_EQ(wrong_tiles(swapped.hashes(), golden), std::vector<unsigned>{0});
  Product empty = product;
  std::fill(empty.c.begin(), empty.c.end(), 0.0f);
  EXPECT_EQ(wrong_tiles(empty.hashes(), golden), (std::vector<unsigned>{0, 1}));
}

TEST(Products, AWrongOperandIsFound) {
  Product product{64, 64, 64, 32, 64};
  std::vector<TileHash> golden = product.golden();
  product.a[40 * 64 + 3] ^= 0x8000;
  EXPECT_EQ(wrong_tiles(product.golden(), golden), std::vector<unsigned>{1});
}

} // namespace
} // namespace gpuvet
