#include "gpu/work/stress/product.hpp"

#include "gpu/kernels/mix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpuvet {
namespace {

// 8192 fills every GPU for about a millisecond and reads its operands mostly from the second-level
// cache. Smaller ones are for those who have no memory left.
constexpr uint32_t kSides[] = {8192, 4096, 2048, 1024, 512, 256};
constexpr double kShareOfFree = 0.8;

// Rows first ... first+count-1 of an operand, as integers.
std::vector<int16_t> operand_rows(uint64_t seed, uint32_t first, uint32_t count, uint32_t inner) {
  std::vector<int16_t> made(size_t{count} * inner);
  const uint64_t begin = uint64_t{first} * inner;
  const uint32_t bound = exact_bound(inner);
  for (size_t i = 0; i < made.size(); ++i)
    made[i] = static_cast<int16_t>(int_of_bf16(operand(begin + i, seed, bound)));
  return made;
}

int32_t dot(const int16_t* a, const int16_t* b, uint32_t inner) {
  int32_t sum = 0;
  for (uint32_t k = 0; k < inner; ++k)
    sum += int32_t{a[k]} * b[k];
  return sum;
}

} // namespace

std::string describe(const ProductShape& shape) {
  return fmt::format("{} x {} x {}", shape.rows, shape.columns, shape.inner);
}

uint32_t tiles_of(const ProductShape& shape) {
  return shape.rows / kTileRows * (shape.columns / kTileColumns);
}

std::optional<ProductShape> shape_for(uint64_t free_bytes) {
  for (uint32_t side : kSides) {
    ProductShape shape{side, side, side};
    if (static_cast<double>(shape.bytes()) <= kShareOfFree * static_cast<double>(free_bytes))
      return shape;
  }
  return std::nullopt;
}

ProductSeeds product_seeds(uint64_t seed) {
  return {mix64(seed * 2), mix64(seed * 2 + 1)};
}

ProductTile place_of(const ProductShape& shape, uint32_t tile) {
  uint32_t across = shape.columns / kTileColumns;
  return {tile / across * kTileRows, tile % across * kTileColumns};
}

std::vector<float> golden_tile(const ProductShape& shape, const ProductSeeds& seeds,
                               uint32_t tile) {
  ProductTile place = place_of(shape, tile);
  auto a = operand_rows(seeds.a, place.row, kTileRows, shape.inner);
  auto b = operand_rows(seeds.b, place.column, kTileColumns, shape.inner);
  std::vector<float> made(size_t{kTileRows} * kTileColumns);
  for (size_t row = 0; row < kTileRows; ++row)
    for (size_t column = 0; column < kTileColumns; ++column)
      made[row * kTileColumns + column] = static_cast<float>(
          dot(a.data() + row * shape.inner, b.data() + column * shape.inner, shape.inner));
  return made;
}

TileHash hash_of_tile(const ProductShape& shape, uint32_t tile, const std::vector<float>& values) {
  ProductTile place = place_of(shape, tile);
  TileHash made{};
  for (uint32_t row = 0; row < kTileRows; ++row)
    for (uint32_t column = 0; column < kTileColumns; ++column) {
      uint32_t at = (place.row + row) * shape.columns + place.column + column;
      Word word = hash_word(at, bits_of(values[size_t{row} * kTileColumns + column]));
      made.sum += word;
      made.mixed ^= word;
    }
  return made;
}

std::vector<uint32_t> tile_order(uint32_t tiles, uint64_t seed) {
  std::vector<uint32_t> order(tiles);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t left, uint32_t right) {
    return word_value(left, seed) < word_value(right, seed);
  });
  return order;
}

} // namespace gpuvet
