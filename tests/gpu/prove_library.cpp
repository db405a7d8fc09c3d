// The same products by cuBLASLt, as a measure: fp32 and bf16 results.
#include "gpu/work/libraries/cublaslt_api.hpp"
#include "prove.hpp"

#include <fmt/core.h>

#include <array>

namespace gpuvet::prove {
namespace {

constexpr size_t kWorkspace = 64 << 20;

CublasLtApi find_cublaslt(const OpenLibrary& library) {
  CublasLtApi api;
#define GPUVET_FIND(name, ...) find_call(library, api.name);
  GPUVET_CUBLASLT_CALLS(GPUVET_FIND)
#undef GPUVET_FIND
  api.cublasLtGetVersion =
      reinterpret_cast<size_t (*)()>(find_symbol(library, "cublasLtGetVersion"));
  return api;
}

// What is made for one shape. Nothing is given back: the program ends soon.
struct Setup {
  CublasLtHandle handle = nullptr;
  CublasLtDesc product = nullptr;
  CublasLtLayout a = nullptr, b = nullptr, c = nullptr;
  std::array<CublasLtChoice, 8> choices{};
  int found = 0;
};

// The library's matrices are column-major: it computes transposed C = B * transposed A, with B as
// it lies in memory the transposed operand.
Setup set_up(Bench& bench, const CublasLtApi& lt, CublasLtHandle handle, const Shape& shape,
             int result_type) {
  Setup s;
  s.handle = handle;
  const int transpose = kCublasTranspose;
  const size_t workspace = kWorkspace;
  CublasLtPreference preference = nullptr;
  bench.call(lt.cublasLtMatmulDescCreate, &s.product, int{kCublasCompute32F}, int{kCublasReal32F});
  bench.call(lt.cublasLtMatmulDescSetAttribute, s.product, int{kCublasDescTransposeA},
             static_cast<const void*>(&transpose), sizeof transpose);
  bench.call(lt.cublasLtMatrixLayoutCreate, &s.b, int{kCublasReal16BF}, uint64_t{shape.inner},
             uint64_t{shape.columns}, int64_t{shape.inner});
  bench.call(lt.cublasLtMatrixLayoutCreate, &s.a, int{kCublasReal16BF}, uint64_t{shape.inner},
             uint64_t{shape.rows}, int64_t{shape.inner});
  bench.call(lt.cublasLtMatrixLayoutCreate, &s.c, result_type, uint64_t{shape.columns},
             uint64_t{shape.rows}, int64_t{shape.columns});
  bench.call(lt.cublasLtMatmulPreferenceCreate, &preference);
  bench.call(lt.cublasLtMatmulPreferenceSetAttribute, preference, int{kCublasPreferWorkspace},
             static_cast<const void*>(&workspace), sizeof workspace);
  bench.call(lt.cublasLtMatmulAlgoGetHeuristic, handle, s.product, s.b, s.a, s.c, s.c, preference,
             static_cast<int>(s.choices.size()), s.choices.data(), &s.found);
  return s;
}

void multiply(const Product& product, const CublasLtApi& lt, const Setup& s,
              const CublasLtChoice& choice, const DeviceMemory& workspace) {
  const float one = 1, zero = 0;
  const auto at = [](const DeviceMemory& memory) { return reinterpret_cast<void*>(memory.at()); };
  product.prover.bench.quietly(
      lt.cublasLtMatmul, s.handle, s.product, static_cast<const void*>(&one),
      static_cast<const void*>(at(product.b)), s.b, static_cast<const void*>(at(product.a)), s.a,
      static_cast<const void*>(&zero), static_cast<const void*>(at(product.c)), s.c, at(product.c),
      s.c, &choice.algo, at(workspace), kWorkspace, CudaStream{product.prover.stream});
}

void prove_shape(const Prover& prover, const CublasLtApi& lt, CublasLtHandle handle,
                 const Shape& shape, bool fp32) {
  Product product(prover, shape, 128, 256);
  DeviceMemory workspace(prover.bench, kWorkspace);
  DeviceMemory golden(prover.bench, product.tiles * sizeof(TileHash));
  const std::vector<uint32_t> sample = product.sample(48);
  DeviceMemory numbers(prover.bench, sample.size() * 4);
  prover.bench.call(prover.bench.cuda.cuMemcpyHtoDAsync_v2, numbers.at(),
                    static_cast<const void*>(sample.data()), sample.size() * 4,
                    CudaStream{prover.stream});
  const auto count = static_cast<uint32_t>(sample.size());
  product.golden(numbers.at(), count, golden.at());
  Setup s = set_up(prover.bench, lt, handle, shape, fp32 ? kCublasReal32F : kCublasReal16BF);
  Times best;
  uint32_t wrong = 0;
  for (int i = 0; i < s.found; ++i) {
    const CublasLtChoice& choice = s.choices[static_cast<size_t>(i)];
    if (choice.state != 0) continue;
    product.poison();
    Times times = time_runs(prover, [&] { multiply(product, lt, s, choice, workspace); });
    if (best.median == 0 || times.median < best.median) best = times;
    if (!fp32) continue; // bf16 rounds
    product.hash_c(product.hashes.at());
    wrong += product.wrong_tiles(product.hashes.at(), golden.at(), numbers.at(), count);
  }
  const double flop = shape.flop() / 1e12;
  prover.report.checked(
      "cublaslt", best.median > 0 && wrong == 0,
      fmt::format(
          "{} result={} algorithms={} golden_wrong={} tflops={:.1f} worst={:.1f} best={:.1f} "
          "clock_mhz={:.0f}",
          text(shape), fp32 ? "fp32" : "bf16", s.found, wrong, flop / best.median, flop / best.most,
          flop / best.least, clock_mhz(prover)));
}

} // namespace

void prove_library(const Prover& prover, const std::string& cublaslt, double most_flop) {
  auto library = open_library({"libcublasLt.so", {}}, cublaslt);
  if (!library) return prover.report.checked("cublaslt", false, library.error().what);
  const CublasLtApi lt = find_cublaslt(*library);
  guarded(prover, "cublaslt", [&] {
    CublasLtHandle handle = nullptr;
    prover.bench.call(lt.cublasLtCreate, &handle);
    const size_t version = lt.cublasLtGetVersion ? lt.cublasLtGetVersion() : 0;
    prover.report.measured("cublaslt", fmt::format("version={} file={}", version, library->file));
    for (const Shape& shape :
         {Shape{4096, 4096, 4096}, Shape{8192, 8192, 8192}, Shape{16384, 8192, 2048}})
      for (bool fp32 : {true, false})
        if (shape.flop() <= most_flop) prove_shape(prover, lt, handle, shape, fp32);
  });
}

} // namespace gpuvet::prove
