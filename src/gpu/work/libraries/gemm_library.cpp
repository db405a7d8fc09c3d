// cuBLASLt of the installation: under load, and once small to see whether it works at all.
#include "gpu/work/libraries/cublaslt.hpp"
#include "gpu/work/libraries/own_kernel.hpp"
#include "gpu/work/libraries/steps.hpp"
#include "gpu/work/stress/sustain.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

constexpr ProductShape kSmall = {256, 256, 512};

// Each of the library's choices must be right; the fastest is kept.
void prove_choices(Load& load, CublasLt& library) {
  std::vector<ProductEngine> engines;
  for (size_t choice = 0; choice < library.choices(); ++choice)
    engines.push_back(library.engine(choice));
  const size_t best = prove_and_choose(load, engines);
  load.bench.tell.word("choice", fmt::format("{} of {}", best + 1, engines.size()));
}

void require_bf16(const Bench& bench) {
  if (bench.sm < 80)
    Bench::unsupported(
        fmt::format("bf16 on tensor cores needs compute capability 8.0; this GPU has "
                    "{}.{}",
                    bench.sm / 10, bench.sm % 10));
}

} // namespace

void run_gemm_library(Bench& bench, const StepOptions& options) {
  require_bf16(bench);
  const ProductShape shape = shape_for_free_memory(bench);
  CublasLt library(bench, options.libraries.cublaslt, shape);
  Load load(bench, options, shape);
  prove_choices(load, library);
  sustain(load);
}

void run_library_cublaslt(Bench& bench, const StepOptions& options) {
  require_bf16(bench);
  const std::string own = own_product(bench, options, kSmall);
  bench.tell.word("own_kernel", own);
  CublasLt library(bench, options.libraries.cublaslt, kSmall);
  bench.tell.reading("load_s", "s", library.load_s);
  bench.tell.word("pattern", "exact integers in bf16, " + describe(kSmall));
  Load load(bench, options, kSmall);
  load.engine = library.engine(0);
  const unsigned wrong = wrong_tiles(load);
  bench.tell.reading("mismatches", "1", wrong);
  if (wrong > 0)
    Bench::wrong(
        fmt::format("a product by cuBLASLt {} is wrong in {} of {} tiles; that of gpuvet's own "
                    "kernel is {}",
                    library.version, wrong, load.tiles, own));
}

} // namespace gpuvet
