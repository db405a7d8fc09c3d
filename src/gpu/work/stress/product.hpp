// Matrix products of exact integers. With |a|, |b| <= floor(sqrt(2^24 / inner)) every partial sum
// is an integer of at most 2^24, which fp32 holds exactly in whatever order it is added. So the
// result is the same bits for each kernel, library and GPU, and a CPU can say what is right.
#pragma once

#include "gpu/kernels/kernels.hpp"
#include "gpu/kernels/mix.hpp" // exact_bound

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

// C (fp32, rows x columns) = A (bf16, rows x inner) * B^T (bf16, columns x inner), all row-major.
struct ProductShape {
  uint32_t rows = 0, columns = 0, inner = 0;

  uint64_t a_words() const { return uint64_t{rows} * inner; } // of 2 bytes
  uint64_t b_words() const { return uint64_t{columns} * inner; }
  uint64_t c_words() const { return uint64_t{rows} * columns; } // of 4 bytes
  uint64_t bytes() const { return 2 * (a_words() + b_words()) + 4 * c_words(); }
  double flop() const { return 2.0 * rows * columns * inner; }
};

std::string describe(const ProductShape& shape); // "8192 x 8192 x 8192"

// Where the hashes of a result are taken: the tile of our kernels.
constexpr uint32_t kTileRows = 128, kTileColumns = 256;
uint32_t tiles_of(const ProductShape& shape);

// The largest cube that leaves a good part of the free memory alone; none where even the smallest
// does not fit.
std::optional<ProductShape> shape_for(uint64_t free_bytes);

// The seeds of A and B, from that of the test.
struct ProductSeeds {
  uint64_t a = 0, b = 0;
};
ProductSeeds product_seeds(uint64_t seed);

// A tile of C as it must be, computed on the CPU from the seeds alone: kTileRows x kTileColumns.
std::vector<float> golden_tile(const ProductShape& shape, const ProductSeeds& seeds, uint32_t tile);
TileHash hash_of_tile(const ProductShape& shape, uint32_t tile, const std::vector<float>& values);

// All tiles, in an order that differs with the seed: each is checked once before any again.
std::vector<uint32_t> tile_order(uint32_t tiles, uint64_t seed);

struct ProductTile {
  uint32_t row = 0, column = 0; // of its first element
};
ProductTile place_of(const ProductShape& shape, uint32_t tile);

} // namespace gpuvet
