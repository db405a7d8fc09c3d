#include "gpu/kernels/mix.hpp"
#include "prove.hpp"

#include <algorithm>
#include <cmath>

namespace gpuvet::prove {
namespace {

constexpr unsigned kNan = 0x7FC0BAD0;
constexpr size_t kGuardWords = 1024; // behind C: nobody may write there
constexpr uint64_t kSeed = 20240229;

// The largest integers whose sums stay exact in fp32, whatever the order: inner * bound^2 <= 2^24.
unsigned bound_for(unsigned inner) {
  return std::clamp(static_cast<unsigned>(std::sqrt((1 << 24) / double{1.0 * inner})), 1u, 256u);
}

} // namespace

Product::Product(const Prover& prover_, const Shape& shape_, uint32_t tile_rows_,
                 uint32_t tile_columns_)
    : prover(prover_), shape(shape_), tile_rows(tile_rows_), tile_columns(tile_columns_),
      tiles(shape_.rows / tile_rows_ * (shape_.columns / tile_columns_)),
      a(prover_.bench, size_t{2} * shape_.rows * shape_.inner),
      b(prover_.bench, size_t{2} * shape_.columns * shape_.inner),
      c(prover_.bench, (size_t{shape_.rows} * shape_.columns + kGuardWords) * 4),
      hashes(prover_.bench, tiles * sizeof(TileHash)), multiprocessors(prover_.bench, tiles * 4) {
  const uint64_t counts[] = {uint64_t{shape.rows} * shape.inner,
                             uint64_t{shape.columns} * shape.inner};
  run_core(prover, "gv_operands", counts[0], a.at(), counts[0], uint64_t{0}, kSeed,
           bound_for(shape.inner));
  run_core(prover, "gv_operands", counts[1], b.at(), counts[1], uint64_t{0}, kSeed + 1,
           bound_for(shape.inner));
}

void Product::poison() const {
  fill_words(prover, c.at(), kNan, c.bytes() / 4);
  fill_words(prover, hashes.at(), 0, hashes.bytes() / 4);
  fill_words(prover, multiprocessors.at(), ~0u, tiles);
}

uint32_t Product::wrong_tiles(CudaPointer got, CudaPointer wanted, CudaPointer numbers,
                              uint32_t count) const {
  DeviceMemory wrong(prover.bench, 4 * (1 + kWrongTiles));
  fill_words(prover, wrong.at(), 0, 1 + kWrongTiles);
  run_core(prover, "gv_compare_hashes", count, got, wanted, numbers, count, wrong.at());
  return read_back<uint32_t>(prover, wrong.at(), 1)[0];
}

void Product::hash_c(CudaPointer into) const {
  fill_words(prover, into, 0, tiles * sizeof(TileHash) / 4);
  run_core(prover, "gv_tile_hash", uint64_t{tiles} * 256, c.at(), shape.rows, shape.columns,
           tile_rows, tile_columns, into);
}

std::vector<uint32_t> Product::sample(uint32_t most) const {
  std::vector<uint32_t> numbers;
  const uint32_t count = std::min(most, tiles);
  for (uint32_t i = 0; i < count; ++i)
    numbers.push_back(count == 1 ? 0
                                 : static_cast<uint32_t>(uint64_t{i} * (tiles - 1) / (count - 1)));
  return numbers;
}

void Product::golden(CudaPointer numbers, uint32_t count, CudaPointer into) const {
  fill_words(prover, into, 0, tiles * sizeof(TileHash) / 4);
  run_core(prover, "gv_golden_tiles", uint64_t{count} * tile_rows * tile_columns / 16, a.at(),
           b.at(), shape.rows, shape.columns, shape.inner, tile_rows, tile_columns, numbers, count,
           into);
}

uint64_t wrong_elements(const Product& product) {
  const Shape& s = product.shape;
  const Prover& prover = product.prover;
  const auto a = read_back<uint16_t>(prover, product.a.at(), size_t{s.rows} * s.inner);
  const auto b = read_back<uint16_t>(prover, product.b.at(), size_t{s.columns} * s.inner);
  const auto c = read_back<uint32_t>(prover, product.c.at(), product.c.bytes() / 4);
  std::vector<int> ia(a.size()), ib(b.size());
  std::transform(a.begin(), a.end(), ia.begin(), int_of_bf16);
  std::transform(b.begin(), b.end(), ib.begin(), int_of_bf16);
  uint64_t wrong = 0;
  for (size_t row = 0; row < s.rows; ++row)
    for (size_t column = 0; column < s.columns; ++column) {
      int sum = 0;
      for (size_t k = 0; k < s.inner; ++k)
        sum += ia[row * s.inner + k] * ib[column * s.inner + k];
      wrong += c[row * s.columns + column] != bits_of(static_cast<float>(sum));
    }
  for (size_t i = size_t{s.rows} * s.columns; i < c.size(); ++i)
    wrong += c[i] != kNan;
  return wrong;
}

} // namespace gpuvet::prove
