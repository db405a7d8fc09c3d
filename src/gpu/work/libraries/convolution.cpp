// cuDNN of the installation: a convolution under load, and a small one to see whether it works at
// all. The first result is compared with the CPU's at many places, each later one with the first in
// full.
#include "gpu/kernels/mix.hpp"
#include "gpu/work/libraries/cudnn.hpp"
#include "gpu/work/libraries/own_kernel.hpp"
#include "gpu/work/libraries/steps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace gpuvet {
namespace {

constexpr ConvolutionShape kShapes[] = {
    {64, 56, 256, 256}, {8, 56, 256, 256}, {4, 28, 128, 128}, {2, 8, 32, 64}};
constexpr ConvolutionShape kSmall = {2, 16, 32, 64};
constexpr double kShareOfFree = 0.6;  // the library wants some besides
constexpr uint64_t kSampled = 20'000; // outputs that the CPU computes again
constexpr unsigned kBatch = 16;       // convolutions between two looks at the clock

struct ConvolutionTest {
  ConvolutionTest(Bench& bench_, const StepOptions& options, const ConvolutionShape& shape_)
      : bench(bench_), shape(shape_), x_seed(mix64(options.seed * 2)),
        w_seed(mix64(options.seed * 2 + 1)), stream(bench_), x(bench_, 2 * shape_.x_words()),
        w(bench_, 2 * shape_.w_words()), y(bench_, 2 * shape_.y_words()),
        first(bench_, tiles() * sizeof(TileHash)), hashes(bench_, first.bytes()),
        wrong(bench_, (1 + kWrongTiles) * sizeof(uint32_t)),
        cudnn(bench_, options.libraries, shape_, stream) {
    fill(x.at(), shape.x_words(), x_seed);
    fill(w.at(), shape.w_words(), w_seed);
  }

  // y as rows of 256 words of 4 bytes.
  uint32_t rows() const { return static_cast<uint32_t>(shape.y_words() / 2 / kTileColumns); }
  uint32_t tiles() const { return (rows() + kTileRows - 1) / kTileRows; }

  void fill(CudaPointer to, uint64_t words, uint64_t seed) {
    launch(bench, bench.kernel("core", "gv_operands"), blocks_for(bench, words), 256, 0, stream, to,
           words, uint64_t{0}, seed, exact_bound(shape.inner()));
  }
  void zero(const DeviceMemory& memory) {
    bench.quietly(bench.cuda.cuMemsetD32Async, memory.at(), 0u, memory.bytes() / 4,
                  CudaStream{stream});
  }
  void hash(const DeviceMemory& to) {
    zero(to);
    launch(bench, hash_kernel, tiles(), 256, 0, stream, y.at(), rows(), kTileColumns, kTileRows,
           kTileColumns, to.at());
  }
  void convolve() { cudnn.forward(x.at(), w.at(), y.at()); }

  Bench& bench;
  ConvolutionShape shape;
  uint64_t x_seed, w_seed;
  Stream stream;
  DeviceMemory x, w, y, first, hashes, wrong;
  Cudnn cudnn;
  CudaFunction hash_kernel = bench.kernel("core", "gv_tile_hash");
  CudaFunction compare_kernel = bench.kernel("core", "gv_compare_hashes");
};

void require_bf16(const Bench& bench) {
  if (bench.sm < 80)
    Bench::unsupported(
        fmt::format("bf16 on tensor cores needs compute capability 8.0; this GPU has "
                    "{}.{}",
                    bench.sm / 10, bench.sm % 10));
}

// How many of `count` outputs, spread over all, are not what the CPU computes.
uint64_t wrong_outputs(ConvolutionTest& test, uint64_t count) {
  const uint64_t words = test.shape.y_words();
  std::vector<uint16_t> got(words);
  test.bench.call(test.bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(got.data()), test.y.at(),
                  test.y.bytes(), CudaStream{test.stream});
  test.bench.call(test.bench.cuda.cuStreamSynchronize, CudaStream{test.stream});
  count = std::min(count, words);
  uint64_t wrong = 0;
  for (uint64_t at = 0; at < count; ++at) {
    const uint64_t index = count == words ? at : mix64(at + test.x_seed) % words;
    wrong += got[index] != right_output(test.shape, test.x_seed, test.w_seed, index);
  }
  return wrong;
}

void compare_with_first(ConvolutionTest& test) {
  test.hash(test.hashes);
  launch(test.bench, test.compare_kernel, (test.tiles() + 255) / 256, 256, 0, test.stream,
         test.hashes.at(), test.first.at(), CudaPointer{0}, test.tiles(), test.wrong.at());
}

uint32_t read_wrong(ConvolutionTest& test) {
  uint32_t wrong = 0;
  test.bench.call(test.bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(&wrong), test.wrong.at(),
                  sizeof(wrong), CudaStream{test.stream});
  test.bench.call(test.bench.cuda.cuStreamSynchronize, CudaStream{test.stream});
  return wrong;
}

[[noreturn]] void stop_wrong(ConvolutionTest& test, uint64_t wrong, const std::string& what) {
  test.bench.tell.reading("mismatches", "1", static_cast<double>(wrong));
  Bench::wrong(what);
}

void prove_first(ConvolutionTest& test) {
  test.convolve();
  if (uint64_t wrong = wrong_outputs(test, kSampled))
    stop_wrong(test, wrong,
               fmt::format("{} of {} outputs of a convolution by cuDNN {} that the CPU "
                           "computed again are wrong",
                           wrong, std::min(kSampled, test.shape.y_words()), test.cudnn.version));
  test.hash(test.first);
  test.zero(test.wrong);
}

// One batch: every convolution that is timed is compared too, outside the time.
double batch_s(ConvolutionTest& test, bool plant) {
  double seconds = timed(test.bench, test.stream, [&] {
    for (unsigned at = 0; at < kBatch; ++at)
      test.convolve();
  });
  if (plant)
    launch(test.bench, test.bench.kernel("core", "gv_flip"), 1, 1, 0, test.stream,
           test.y.at(test.y.bytes() / 8 * 4), uint32_t{1} << 7);
  compare_with_first(test);
  if (uint32_t wrong = read_wrong(test))
    stop_wrong(test, wrong,
               fmt::format("a convolution by cuDNN {} differs from the one before it, of the same "
                           "data, in {} of {} parts of the result",
                           test.cudnn.version, wrong, test.tiles()));
  return seconds;
}

ConvolutionShape shape_for_free_memory(Bench& bench) {
  size_t free = 0, total = 0;
  bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
  for (const ConvolutionShape& shape : kShapes)
    if (static_cast<double>(shape.bytes()) <= kShareOfFree * static_cast<double>(free))
      return shape;
  Bench::wrong(
      fmt::format("only {:.1f} MB of the GPU's memory are free, too little for a convolution",
                  static_cast<double>(free) / 1e6));
}

} // namespace

void run_convolution(Bench& bench, const StepOptions& options) {
  require_bf16(bench);
  ConvolutionTest test(bench, options, shape_for_free_memory(bench));
  const uint32_t bound = exact_bound(test.shape.inner());
  bench.tell.word("engine", "cuDNN " + test.cudnn.version);
  bench.tell.word("shape", describe(test.shape));
  bench.tell.word("pattern", fmt::format("bf16 integers from -{} to {}", bound, bound));
  prove_first(test);
  const bool plant = options.fault == Fault::wrong_bit;
  batch_s(test, plant); // the clocks rise
  const double began = bench.tell.seconds(), bucket_s = std::clamp(options.seconds / 20, 0.0, 1.0);
  for (double end = began; end <= began + options.seconds;) {
    double seconds = 0, flop = 0;
    end = bench.tell.seconds() + bucket_s;
    do {
      seconds += batch_s(test, false);
      flop += kBatch * test.shape.flop();
    } while (bench.tell.seconds() < end);
    if (seconds <= 0) continue;
    bench.tell.reading("rate", "TFLOP/s", flop / seconds / 1e12);
    bench.tell.progress(std::min((end - began) / std::max(options.seconds, 1e-3), 1.0), "rate",
                        flop / seconds / 1e12, "TFLOP/s");
  }
  bench.tell.reading("mismatches", "1", 0);
}

void run_library_cudnn(Bench& bench, const StepOptions& options) {
  require_bf16(bench);
  // Our kernels have no convolution: a product of the same length of sums stands for it.
  const std::string own = own_product(bench, options, {256, 256, 576});
  bench.tell.word("own_kernel", own);
  bench.tell.word("pattern", "exact integers in bf16, " + describe(kSmall));
  ConvolutionTest test(bench, options, kSmall);
  bench.tell.reading("load_s", "s", test.cudnn.load_s);
  test.convolve();
  const uint64_t wrong = wrong_outputs(test, test.shape.y_words());
  if (wrong > 0)
    stop_wrong(test, wrong,
               fmt::format("{} of {} outputs of a convolution by cuDNN {} are wrong; a "
                           "product by gpuvet's own kernel is {}",
                           wrong, test.shape.y_words(), test.cudnn.version, own));
  bench.tell.reading("mismatches", "1", 0);
}

} // namespace gpuvet
