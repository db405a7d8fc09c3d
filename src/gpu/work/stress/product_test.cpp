#include "gpu/kernels/mix.hpp"
#include "gpu/work/stress/product.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gpuvet {
namespace {

TEST(Product, OperandsKeepEverySumExact) {
  EXPECT_EQ(exact_bound(4096), 64u);
  EXPECT_EQ(exact_bound(8192), 45u);
  EXPECT_EQ(exact_bound(16384), 32u);
  EXPECT_EQ(exact_bound(2304), 85u);
  EXPECT_EQ(exact_bound(64), 256u); // what bf16 holds, not what fp32 would
  for (uint32_t inner : {256u, 1000u, 2304u, 8192u, 16384u})
    EXPECT_LE(uint64_t{exact_bound(inner)} * exact_bound(inner) * inner, 1u << 24) << inner;
}

TEST(Product, ShrinksWithTheMemoryThatIsFree) {
  EXPECT_EQ(shape_for(80'000'000'000)->rows, 8192u);
  EXPECT_EQ(shape_for(600'000'000)->rows, 4096u); // 537 MB would be nearly all
  EXPECT_EQ(shape_for(2'000'000)->rows, 256u);
  EXPECT_FALSE(shape_for(500'000).has_value());
}

TEST(Product, TilesCoverTheResultOnce) {
  ProductShape shape{512, 1024, 256};
  ASSERT_EQ(tiles_of(shape), 16u);
  std::set<std::pair<uint32_t, uint32_t>> places;
  for (uint32_t tile = 0; tile < 16; ++tile)
    places.insert({place_of(shape, tile).row, place_of(shape, tile).column});
  EXPECT_EQ(places.size(), 16u);
  EXPECT_EQ(places.rbegin()->first, 384u);
  EXPECT_EQ(place_of(shape, 5).row, 128u);
  EXPECT_EQ(place_of(shape, 5).column, 256u);
}

TEST(Product, AGoldenTileIsTheProductOfTheOperands) {
  ProductShape shape{256, 512, 256};
  ProductSeeds seeds = product_seeds(7);
  std::vector<float> tile = golden_tile(shape, seeds, 3); // rows 128..., columns 256...
  int64_t sum = 0;
  for (uint64_t k = 0; k < 256; ++k)
    sum += int_of_bf16(operand((128 + 3) * 256ull + k, seeds.a, 256)) *
           int_of_bf16(operand((256 + 9) * 256ull + k, seeds.b, 256));
  EXPECT_EQ(tile[3 * 256 + 9], static_cast<float>(sum));
  EXPECT_NE(seeds.a, seeds.b);
  TileHash right = hash_of_tile(shape, 3, tile);
  tile[77] = float_of(bits_of(tile[77]) ^ 1u);
  EXPECT_NE(hash_of_tile(shape, 3, tile).sum, right.sum);
}

TEST(Product, EveryTileHasItsTurn) {
  std::vector<uint32_t> order = tile_order(2048, 1);
  EXPECT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), 2048u);
  EXPECT_NE(order, tile_order(2048, 2));
  EXPECT_EQ(order, tile_order(2048, 1));
}

} // namespace
} // namespace gpuvet
