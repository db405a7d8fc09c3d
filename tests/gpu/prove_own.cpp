// gpuvet's own matrix kernels: right on many shapes, and how fast.
#include "gpu/kernels/gemm_sm90a_shape.hpp"
#include "gpu/kernels/mix.hpp"
#include "gpu/work/gemm/gemm_sm90a.hpp"
#include "prove.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

namespace gpuvet::prove {
namespace {

// A kernel made ready for one product: multiplies with hashes (an address) or without (0).
using Multiply = std::function<void(CudaPointer hashes)>;

struct Kernel {
  const char* name;
  uint32_t tile_rows, tile_columns;
  Multiply (*prepare)(const Product& product);
};

Multiply hopper(const Product& product, GemmBlocks blocks) {
  const Shape& s = product.shape;
  GemmSm90a gemm = prepare_gemm_sm90a(
      product.prover.bench,
      {product.a.at(), product.b.at(), product.c.at(), s.rows, s.columns, s.inner}, blocks);
  return [gemm, &product](CudaPointer hashes) {
    launch_gemm_sm90a(product.prover.bench, gemm, hashes, product.multiprocessors.at(),
                      product.prover.stream);
  };
}
Multiply hopper_single(const Product& product) {
  return hopper(product, GemmBlocks::single);
}
Multiply hopper_pairs(const Product& product) {
  return hopper(product, GemmBlocks::pairs);
}

Multiply ampere(const Product& product) {
  Bench& bench = product.prover.bench;
  const CudaFunction function = bench.kernel("gemm_sm80", "gv_gemm");
  const LaunchWords words = launch_words(product.prover, "gemm_sm80", "gv_gemm_shape");
  bench.call(bench.cuda.cuFuncSetAttribute, function, int{kCudaFunctionDynamicSharedBytes},
             static_cast<int>(words[1]));
  return [function, words, &product](CudaPointer hashes) {
    const Shape& s = product.shape;
    launch(product.prover.bench, function, product.prover.multiprocessors, words[0], words[1],
           product.prover.stream, product.a.at(), product.b.at(), product.c.at(), s.rows, s.columns,
           s.inner, hashes, product.multiprocessors.at());
  };
}

// All have tiles of 128 x 256.
constexpr Kernel kKernels[] = {
    {"gv_gemm_tma", sm90a::kTileRows, sm90a::kTileColumns, hopper_single},
    {"gv_gemm_tma2", sm90a::kTileRows, sm90a::kTileColumns, hopper_pairs},
    {"gv_gemm", 128, 256, ampere},
};

// ---- right?

struct Scratch { // hashes to compare with, and the numbers of the tiles that have a golden answer
  explicit Scratch(const Product& product, uint32_t most)
      : hashes(product.prover.bench, product.tiles * sizeof(TileHash)),
        golden(product.prover.bench, product.tiles * sizeof(TileHash)),
        numbers(product.prover.bench, product.tiles * 4), sample(product.sample(most)) {
    Bench& bench = product.prover.bench;
    bench.call(bench.cuda.cuMemcpyHtoDAsync_v2, numbers.at(),
               static_cast<const void*>(sample.data()), sample.size() * 4,
               CudaStream{product.prover.stream});
    product.golden(numbers.at(), count(), golden.at());
  }
  uint32_t count() const { return static_cast<uint32_t>(sample.size()); }
  DeviceMemory hashes, golden, numbers;
  std::vector<uint32_t> sample;
};

// Each tile was computed by a multiprocessor that exists.
bool attributed(const Product& product, size_t& different) {
  const auto ids = read_back<uint32_t>(product.prover, product.multiprocessors.at(), product.tiles);
  different = std::set<uint32_t>(ids.begin(), ids.end()).size();
  return std::find(ids.begin(), ids.end(), ~0u) == ids.end();
}

// A changed bit of C must show in the hash of its tile and no other.
bool flipped_bit_is_seen(const Product& product, const Scratch& scratch) {
  const uint64_t place = uint64_t{product.shape.rows} * product.shape.columns / 3;
  run_core(product.prover, "gv_flip", 1, product.c.at(place * 4), 1u << 7);
  product.hash_c(scratch.hashes.at());
  return product.wrong_tiles(product.hashes.at(), scratch.hashes.at(), 0, product.tiles) == 1;
}

void prove_shape(const Prover& prover, const Kernel& kernel, const Shape& shape, uint32_t golden) {
  Product product(prover, shape, kernel.tile_rows, kernel.tile_columns);
  Scratch scratch(product, golden);
  Multiply multiply = kernel.prepare(product);
  product.poison();
  multiply(product.hashes.at());
  product.hash_c(scratch.hashes.at());
  const uint32_t wrong = product.wrong_tiles(product.hashes.at(), scratch.golden.at(),
                                             scratch.numbers.at(), scratch.count());
  const uint32_t unlike =
      product.wrong_tiles(product.hashes.at(), scratch.hashes.at(), 0, product.tiles);
  size_t different = 0;
  const bool all = attributed(product, different);
  std::string fields =
      fmt::format("{} tiles={} golden={} golden_wrong={} unlike_c={} multiprocessors={}",
                  text(shape), product.tiles, scratch.count(), wrong, unlike, different);
  bool right = wrong == 0 && unlike == 0 && all;
  if (shape.flop() < 1e9) {
    const uint64_t elements = wrong_elements(product);
    fields += fmt::format(" cpu_wrong={}", elements);
    right = right && elements == 0;
  }
  product.poison(); // again, without hashes: the same C
  multiply(0);
  product.hash_c(product.hashes.at());
  const uint32_t unhashed =
      product.wrong_tiles(product.hashes.at(), scratch.hashes.at(), 0, product.tiles);
  const bool seen = flipped_bit_is_seen(product, scratch);
  fields +=
      fmt::format(" without_hashes_wrong={} flipped_bit={}", unhashed, seen ? "seen" : "missed");
  prover.report.checked(kernel.name, right && unhashed == 0 && seen, fields);
}

constexpr uint64_t kPlantedSeed = 314159;

// Any one bit of C, wherever it is, must show in the hash of its tile and no other.
void prove_planted(const Prover& prover, const Kernel& kernel, const Shape& shape, unsigned times) {
  Product product(prover, shape, kernel.tile_rows, kernel.tile_columns);
  Scratch scratch(product, 0);
  kernel.prepare(product)(product.hashes.at());
  const auto right = read_back<TileHash>(prover, product.hashes.at(), product.tiles);
  unsigned found = 0;
  for (unsigned i = 0; i < times; ++i) {
    const uint64_t random = mix64(kPlantedSeed + i);
    const uint64_t place = random % (uint64_t{shape.rows} * shape.columns);
    const uint64_t row = place / shape.columns, column = place % shape.columns;
    const uint64_t tile = row / kernel.tile_rows * (shape.columns / kernel.tile_columns) +
                          column / kernel.tile_columns;
    const CudaPointer at = product.c.at(place * 4);
    const uint32_t bit = 1u << (random >> 40) % 32;
    run_core(prover, "gv_flip", 1, at, bit);
    product.hash_c(scratch.hashes.at());
    run_core(prover, "gv_flip", 1, at, bit); // right again
    const auto got = read_back<TileHash>(prover, scratch.hashes.at(), product.tiles);
    unsigned other = 0;
    for (uint64_t t = 0; t < product.tiles; ++t)
      other += t != tile && (got[t].sum != right[t].sum || got[t].mixed != right[t].mixed);
    found += other == 0 && got[tile].sum != right[tile].sum && got[tile].mixed != right[tile].mixed;
  }
  prover.report.checked(fmt::format("{}-planted", kernel.name), found == times,
                        fmt::format("{} bits={} found={}", text(shape), times, found));
}

// A race shows now and then.
void prove_repeats(const Prover& prover, const Kernel& kernel, const Shape& shape, unsigned times) {
  Product product(prover, shape, kernel.tile_rows, kernel.tile_columns);
  Scratch scratch(product, 0);
  Multiply multiply = kernel.prepare(product);
  product.poison();
  multiply(product.hashes.at());
  product.hash_c(scratch.golden.at());
  unsigned wrong = 0;
  for (unsigned i = 0; i < times; ++i) {
    product.poison();
    multiply(product.hashes.at());
    product.hash_c(scratch.hashes.at());
    wrong += product.wrong_tiles(product.hashes.at(), scratch.golden.at(), 0, product.tiles) != 0;
    wrong += product.wrong_tiles(scratch.hashes.at(), scratch.golden.at(), 0, product.tiles) != 0;
  }
  prover.report.checked(fmt::format("{}-repeats", kernel.name), wrong == 0,
                        fmt::format("{} times={} wrong={}", text(shape), times, wrong));
}

// ---- how fast?

void measure_shape(const Prover& prover, const Kernel& kernel, const Shape& shape) {
  Product product(prover, shape, kernel.tile_rows, kernel.tile_columns);
  Multiply multiply = kernel.prepare(product);
  product.poison();
  const double flop = shape.flop() / 1e12;
  double plain = 0;
  for (bool hashed : {false, true}) {
    const CudaPointer hashes = hashed ? product.hashes.at() : 0;
    Times times = time_runs(prover, [&] { multiply(hashes); });
    const double mhz = clock_mhz(prover);
    const double peak = prover.multiprocessors * 4096.0 * mhz * 1e6 / 1e12; // TFLOP/s, sm_90
    std::string fields = fmt::format(
        "{} hashes={} tflops={:.1f} worst={:.1f} best={:.1f} clock_mhz={:.0f} of_peak={:.3f}",
        text(shape), hashed ? 1 : 0, flop / times.median, flop / times.most, flop / times.least,
        mhz, flop / times.median / peak);
    if (hashed) fields += fmt::format(" overhead={:.4f}", times.median / plain - 1);
    plain = times.median;
    prover.report.measured(kernel.name, fields);
  }
}

constexpr Shape kSmall[] = {{256, 256, 64},  {256, 256, 128},      {256, 512, 192},
                            {512, 256, 320}, {768, 512, 1024 / 8}, {256, 1280, 256}};
constexpr Shape kLarge[] = {{2304, 2816, 4160}, {4096, 4096, 4096}, {16384, 512, 1024},
                            {512, 16384, 8192}, {8192, 8192, 64},   {8192, 8192, 8192}};
constexpr Shape kRepeated = {2048, 2048, 1024};
constexpr Shape kTimed[] = {{4096, 4096, 4096}, {8192, 8192, 8192}, {16384, 8192, 2048}};

} // namespace

void prove_own_products(const Prover& prover, double most_flop) {
  for (const Kernel& kernel : kKernels)
    guarded(prover, kernel.name, [&] {
      for (const Shape& shape : kSmall)
        prove_shape(prover, kernel, shape, ~0u);
      for (const Shape& shape : kLarge)
        if (shape.flop() <= most_flop) prove_shape(prover, kernel, shape, 48);
      if (kRepeated.flop() <= most_flop) {
        prove_repeats(prover, kernel, kRepeated, 200);
        prove_planted(prover, kernel, kRepeated, 100);
      }
      for (const Shape& shape : kTimed)
        if (shape.flop() <= most_flop) measure_shape(prover, kernel, shape);
    });
}

// ---- the tensor cores alone

namespace {

struct Pipe {
  const char *blob, *name;
  uint32_t threads;
};
constexpr Pipe kPipes[] = {{"gemm_sm90a", "gv_pipe-sm90a", sm90a::kPipeThreads},
                           {"gemm_sm80", "gv_pipe-sm80", 256}};

void prove_pipe(const Prover& prover, const Pipe& pipe, uint64_t rounds) {
  DeviceMemory out(prover.bench,
                   4 * sizeof(uint64_t)); // gemm_sm80 counts wrong sums in the last one
  fill_words(prover, out.at(), 0, out.bytes() / 4);
  launch(prover.bench, prover.bench.kernel(pipe.blob, "gv_pipe"), prover.multiprocessors,
         pipe.threads, 0, prover.stream, rounds, out.at());
  const auto words = read_back<uint64_t>(prover, out.at(), 4);
  const double per_clock = static_cast<double>(words[2]) / static_cast<double>(words[0]);
  const double mhz = static_cast<double>(words[0]) * 1000 / static_cast<double>(words[1]);
  // Real ones are a power of two: 4096 for sm_90, 1024 where it is sold with a quarter (H20).
  const double power = std::exp2(std::round(std::log2(per_clock)));
  const bool wgmma = std::string_view(pipe.blob) == "gemm_sm90a";
  const bool right = words[3] == 0 && (!wgmma || words[2] == rounds * sm90a::kPipeRoundFlop) &&
                     (!wgmma || std::abs(per_clock / power - 1) < 0.03);
  prover.report.checked(pipe.name, right,
                        fmt::format("rounds={} flop_per_clock={:.1f} clock_mhz={:.1f} ms={:.3f}",
                                    rounds, per_clock, mhz, static_cast<double>(words[1]) / 1e6));
}

// What the blob says is what the host was compiled with.
void prove_launch_words(const Prover& prover) {
  for (uint32_t together : {1u, sm90a::kPair}) {
    const char* name = together == 1 ? "gv_gemm_shape" : "gv_gemm_shape2";
    const LaunchWords wanted = {sm90a::kThreads,     sm90a::kSharedBytes, sm90a::kTileRows,
                                sm90a::kTileColumns, sm90a::kInnerStep,   together};
    prover.report.checked(name, launch_words(prover, "gemm_sm90a", name) == wanted, "");
  }
}

} // namespace

void prove_pipes(const Prover& prover) {
  guarded(prover, "gemm_sm90a-words", [&] { prove_launch_words(prover); });
  for (const Pipe& pipe : kPipes)
    guarded(prover, pipe.name, [&] {
      for (uint64_t rounds : {uint64_t{2000}, uint64_t{20000}, uint64_t{200000}})
        prove_pipe(prover, pipe, rounds);
    });
}

} // namespace gpuvet::prove
