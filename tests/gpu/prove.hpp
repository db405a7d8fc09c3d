// What the parts of prove_kernels share: lines of results, times, and reading back.
#pragma once

#include "gpu/work/pieces.hpp"

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet::prove {

// One line for each result: WHAT STATE key=value ...; the state is "ok", "WRONG", "skipped" or
// "measured". Any WRONG makes the program end with 1.
class Report {
 public:
  void checked(std::string_view what, bool right, std::string_view fields);
  void measured(std::string_view what, std::string_view fields);
  void skipped(std::string_view what, std::string_view why);
  unsigned right() const { return right_; }
  unsigned wrong() const { return wrong_; }

 private:
  void line(std::string_view what, std::string_view state, std::string_view fields);
  unsigned right_ = 0, wrong_ = 0;
};

struct Prover {
  const OpenLibrary& library; // libcuda
  Bench& bench;
  Report& report;
  const Stream& stream;
  unsigned multiprocessors;
};

// Seconds of each of 20 runs, by events, after 3 that warm up.
struct Times {
  double median = 0, least = 0, most = 0;
};
Times time_runs(const Prover& prover, const std::function<void()>& run);

// MHz, by the counters of a short kernel that is launched now.
double clock_mhz(const Prover& prover);

template <class T> std::vector<T> read_back(const Prover& prover, CudaPointer from, size_t count) {
  std::vector<T> values(count);
  prover.bench.call(prover.bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(values.data()), from,
                    count * sizeof(T), CudaStream{prover.stream});
  prover.bench.call(prover.bench.cuda.cuStreamSynchronize, CudaStream{prover.stream});
  return values;
}

// `words` of 4 bytes.
void fill_words(const Prover& prover, CudaPointer to, unsigned value, size_t words);

// A kernel of core.cu with enough blocks of 256 threads for `items`.
template <class... Arguments>
void run_core(const Prover& prover, const char* kernel, uint64_t items, Arguments... arguments) {
  launch(prover.bench, prover.bench.kernel("core", kernel), blocks_for(prover.bench, items), 256u,
         0, prover.stream, arguments...);
}

// What a blob says of its kernel: threads, bytes of shared memory, rows and columns of a tile,
// inner step, blocks that belong together.
using LaunchWords = std::array<uint32_t, 6>;
LaunchWords launch_words(const Prover& prover, const char* blob, const char* name);

// Calls prove(), and makes what it cannot do a line.
void guarded(const Prover& prover, const std::string& what, const std::function<void()>& prove);

// ---- products

struct Shape {
  uint32_t rows, columns, inner;
  double flop() const { return 2.0 * rows * columns * inner; }
};
std::string text(const Shape& shape);

// Operands and result of one shape, with all that checks them.
class Product {
 public:
  Product(const Prover& prover, const Shape& shape, uint32_t tile_rows, uint32_t tile_columns);
  void poison() const; // C becomes NaN, the hashes 0, nobody has computed a tile

  const Prover& prover;
  const Shape shape;
  const uint32_t tile_rows, tile_columns, tiles;
  DeviceMemory a, b, c, hashes, multiprocessors;

  // How many tiles of C differ from what integers give, in the hashes `got` of `count` tiles that
  // `sample` names.
  uint32_t wrong_tiles(CudaPointer got, CudaPointer wanted, CudaPointer sample,
                       uint32_t count) const;
  void hash_c(CudaPointer into) const;
  // Of up to `most` tiles, the first and the last among them; with the tiles' numbers.
  std::vector<uint32_t> sample(uint32_t most) const;
  void golden(CudaPointer numbers, uint32_t count, CudaPointer into) const;
};

// A * B^T on the CPU with integers: how many elements of C are not the same bits.
uint64_t wrong_elements(const Product& product);

// `most_flop`: shapes that cost more are left out.
void prove_own_products(const Prover& prover, double most_flop);
void prove_pipes(const Prover& prover);
void prove_memory(const Prover& prover, size_t buffer_bytes);
void prove_library(const Prover& prover, const std::string& cublaslt, double most_flop);

} // namespace gpuvet::prove
