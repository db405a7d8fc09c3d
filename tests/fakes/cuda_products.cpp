// Matrix products of the fake libcuda: what src/gpu/kernels/gemm_*.cu compute on tensor cores, by
// plain loops over the integers that gv_operands makes.
#include "cuda_products.hpp"

#include "gpu/kernels/kernels.hpp"
#include "gpu/kernels/mix.hpp"

#include <cstring>

namespace fake {
namespace {

constexpr unsigned kTileRows = 128, kTileColumns = 256;
constexpr double kFlopPerClock = 4096; // of a multiprocessor

template <class T> T argument(void** arguments, size_t at) {
  T value{};
  std::memcpy(&value, arguments[at], sizeof(value));
  return value;
}

struct Product {
  const unsigned short *a, *b;
  float* c;
  unsigned rows, columns, inner;
  gpuvet::TileHash* hashes;
  unsigned* multiprocessors;
};

Product product_of(void** arguments, bool maps) {
  Product made{};
  if (maps) {
    made.a = reinterpret_cast<const unsigned short*>(
        argument<gpuvet::CudaTensorMap>(arguments, 0).words[0]);
    made.b = reinterpret_cast<const unsigned short*>(
        argument<gpuvet::CudaTensorMap>(arguments, 1).words[0]);
  } else {
    made.a = argument<const unsigned short*>(arguments, 0);
    made.b = argument<const unsigned short*>(arguments, 1);
  }
  made.c = argument<float*>(arguments, 2);
  made.rows = argument<unsigned>(arguments, 3);
  made.columns = argument<unsigned>(arguments, 4);
  made.inner = argument<unsigned>(arguments, 5);
  made.hashes = argument<gpuvet::TileHash*>(arguments, 6);
  made.multiprocessors = argument<unsigned*>(arguments, 7);
  return made;
}

float value(unsigned short bf16) {
  const unsigned bits = static_cast<unsigned>(bf16) << 16;
  float made = 0;
  std::memcpy(&made, &bits, sizeof(made));
  return made;
}

void multiply(const Product& product) {
  std::vector<float> a(size_t{product.rows} * product.inner);
  std::vector<float> b(size_t{product.columns} * product.inner);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = value(product.a[i]);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = value(product.b[i]);
  for (unsigned row = 0; row < product.rows; ++row)
    for (unsigned column = 0; column < product.columns; ++column) {
      float sum = 0; // exact: integers below 2^24
      for (unsigned k = 0; k < product.inner; ++k)
        sum += a[size_t{row} * product.inner + k] * b[size_t{column} * product.inner + k];
      product.c[size_t{row} * product.columns + column] = sum;
    }
}

void hash(const Product& product) {
  const unsigned across = (product.columns + kTileColumns - 1) / kTileColumns;
  for (unsigned row = 0; row < product.rows; ++row)
    for (unsigned column = 0; column < product.columns; ++column) {
      const unsigned tile = row / kTileRows * across + column / kTileColumns;
      const unsigned place = row * product.columns + column;
      const auto word = gpuvet::hash_word(place, gpuvet::bits_of(product.c[place]));
      product.hashes[tile].sum += word;
      product.hashes[tile].mixed ^= word;
      if (product.multiprocessors) product.multiprocessors[tile] = tile % 132;
    }
}

} // namespace

std::vector<size_t> product_sizes(bool maps) {
  const size_t operand = maps ? sizeof(gpuvet::CudaTensorMap) : sizeof(void*);
  return {operand, operand, sizeof(void*), 4, 4, 4, sizeof(void*), sizeof(void*)};
}

void run_product(void** arguments, bool maps, bool wrong) {
  const Product product = product_of(arguments, maps);
  multiply(product);
  if (wrong) product.c[product.rows / 2 * product.columns + 5] += 1;
  if (product.hashes) hash(product);
}

double product_flop(void** arguments, bool maps) {
  const Product product = product_of(arguments, maps);
  return 2.0 * product.rows * product.columns * product.inner;
}

// out: cycles, ns, FLOP of a multiprocessor.
void run_pipe(void** arguments, double sm_mhz) {
  const auto rounds = argument<unsigned long long>(arguments, 0);
  auto* out = argument<unsigned long long*>(arguments, 1);
  const double flop = static_cast<double>(rounds) * 1e5;
  out[0] = static_cast<unsigned long long>(flop / kFlopPerClock);
  out[1] = static_cast<unsigned long long>(flop / kFlopPerClock / sm_mhz * 1e3);
  out[2] = static_cast<unsigned long long>(flop);
}

} // namespace fake
