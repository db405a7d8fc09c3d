#include "prove.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

namespace gpuvet::prove {

void Report::line(std::string_view what, std::string_view state, std::string_view fields) {
  fmt::print("{} {} {}\n", what, state, fields);
  std::fflush(stdout);
}

void Report::checked(std::string_view what, bool right, std::string_view fields) {
  ++(right ? right_ : wrong_);
  line(what, right ? "ok" : "WRONG", fields);
}

void Report::measured(std::string_view what, std::string_view fields) {
  line(what, "measured", fields);
}

void Report::skipped(std::string_view what, std::string_view why) {
  line(what, "skipped", why);
}

Times time_runs(const Prover& prover, const std::function<void()>& run) {
  for (unsigned i = 0; i < 3; ++i)
    run();
  std::vector<double> seconds;
  for (unsigned i = 0; i < 20; ++i)
    seconds.push_back(timed(prover.bench, prover.stream, run));
  std::sort(seconds.begin(), seconds.end());
  return {(seconds[9] + seconds[10]) / 2, seconds.front(), seconds.back()};
}

double clock_mhz(const Prover& prover) {
  DeviceMemory out(prover.bench, 5 * sizeof(uint64_t));
  launch(prover.bench, prover.bench.kernel("core", "gv_clock"), prover.multiprocessors, 256u, 0,
         prover.stream, uint64_t{20000}, out.at());
  auto words = read_back<uint64_t>(prover, out.at(), 4);
  double clocks = static_cast<double>(words[2] - words[0]);
  return clocks * 1000 / static_cast<double>(words[3] - words[1]);
}

void fill_words(const Prover& prover, CudaPointer to, unsigned value, size_t words) {
  prover.bench.call(prover.bench.cuda.cuMemsetD32Async, to, value, words,
                    CudaStream{prover.stream});
}

LaunchWords launch_words(const Prover& prover, const char* blob, const char* name) {
  LibraryCall<CudaPointer*, size_t*, CudaModule, const char*> get_global{"cuModuleGetGlobal_v2"};
  find_call(prover.library, get_global);
  CudaPointer at = 0;
  size_t bytes = 0;
  prover.bench.call(get_global, &at, &bytes, prover.bench.module(blob), name);
  LaunchWords words{};
  if (bytes != sizeof words) Bench::wrong(fmt::format("{} has {} bytes", name, bytes));
  auto read = read_back<uint32_t>(prover, at, words.size());
  std::copy(read.begin(), read.end(), words.begin());
  return words;
}

void guarded(const Prover& prover, const std::string& what, const std::function<void()>& prove) {
  try {
    prove();
  } catch (const StepStopped& stopped) {
    if (stopped.unsupported)
      prover.report.skipped(what, stopped.reason);
    else
      prover.report.checked(what, false, stopped.reason);
  }
}

std::string text(const Shape& shape) {
  return fmt::format("shape={}x{}x{}", shape.rows, shape.columns, shape.inner);
}

} // namespace gpuvet::prove
