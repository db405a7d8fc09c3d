// Proves gpuvet's kernels on a real GPU: that they compute what they should, and how fast. Run by
// hand on a machine with one; needs a driver, no toolkit.
//
//   prove_kernels [--device N] [--only PART] [--cublaslt FILE] [--libcuda FILE]
//                 [--most-tflop X] [--buffer-mib N]
//
// PART: products, pipe, memory, library. Products that cost more than X (unlimited) are left out;
// buffers of the memory part have N MiB (4096). A line for each result; ends with 1 when anything
// is wrong, with 77 where there is no GPU to try.
#include "os/child.hpp"
#include "prove.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <fcntl.h>

using namespace gpuvet;

namespace {

struct Options {
  int device = 0;
  double most_tflop = 1e9;
  long buffer_mib = 4096;
  std::string only, cublaslt, libcuda;
};

constexpr int kUsage = 2, kNothingToTry = 77;

bool read_options(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--device" && has_value)
      options.device = std::atoi(words[++i]);
    else if (word == "--most-tflop" && has_value)
      options.most_tflop = std::atof(words[++i]);
    else if (word == "--buffer-mib" && has_value)
      options.buffer_mib = std::atol(words[++i]);
    else if (word == "--only" && has_value)
      options.only = words[++i];
    else if (word == "--cublaslt" && has_value)
      options.cublaslt = words[++i];
    else if (word == "--libcuda" && has_value)
      options.libcuda = words[++i];
    else
      return false;
  }
  return true;
}

int nothing(const std::string& why) {
  fmt::print("driver skipped {}\n", why);
  return kNothingToTry;
}

void prove_all(const OpenLibrary& library, Bench& bench, const Options& options,
               prove::Report& report) {
  Stream stream(bench);
  const prove::Prover prover = {library, bench, report, stream,
                                static_cast<unsigned>(bench.attribute(kCudaMultiprocessors))};
  char name[256] = {};
  bench.call(bench.cuda.cuDeviceGetName, +name, static_cast<int>(sizeof name), bench.device);
  report.measured("device", fmt::format("name=\"{}\" sm={} multiprocessors={} clock_mhz={:.0f}",
                                        name, bench.sm, prover.multiprocessors, clock_mhz(prover)));
  const auto asked = [&](std::string_view part) {
    return options.only.empty() || options.only == part;
  };
  if (asked("pipe")) prove::prove_pipes(prover);
  if (asked("products")) prove::prove_own_products(prover, options.most_tflop * 1e12);
  if (asked("library") && !options.cublaslt.empty())
    prove::prove_library(prover, options.cublaslt, options.most_tflop * 1e12);
  if (asked("memory")) prove::prove_memory(prover, static_cast<size_t>(options.buffer_mib) << 20);
}

} // namespace

int main(int count, char** words) {
  Options options;
  if (!read_options(count, words, options)) {
    fmt::print(stderr, "usage: prove_kernels [--device N] [--only PART] [--cublaslt FILE] "
                       "[--libcuda FILE] [--most-tflop X] [--buffer-mib N]\n");
    return kUsage;
  }
  auto library = open_library(kCudaPlaces, options.libcuda);
  if (!library) return nothing(library.error().what);
  const CudaApi cuda = find_cuda(*library);
  if (!cuda.cuInit.function) return nothing(library->file + " has no cuInit");
  if (int code = cuda.cuInit.function(0))
    return nothing(fmt::format("cuInit gave {}", cuda_error_name(cuda, code)));
  prove::Report report;
  StepTeller nobody(open("/dev/null", O_WRONLY | O_CLOEXEC), std::chrono::steady_clock::now());
  try {
    Bench bench(cuda, options.device, nobody);
    prove_all(*library, bench, options, report);
  } catch (const StepStopped& stopped) {
    report.checked("prove_kernels", false, stopped.reason);
  }
  fmt::print("end {} right={} wrong={}\n", report.wrong() ? "WRONG" : "ok", report.right(),
             report.wrong());
  return report.wrong() || !report.right() ? 1 : 0;
}
