// Our own kernel under load: the test that needs nothing of the installation but the driver.
#include "gpu/work/stress/steps.hpp"
#include "gpu/work/stress/sustain.hpp"

namespace gpuvet {

void run_gemm(Bench& bench, const StepOptions& options) {
  best_blob(bench); // unsupported before any memory is taken
  const ProductShape shape = shape_for_free_memory(bench);
  Load load(bench, options, shape);
  prove_and_choose(load, own_engines(bench, shape));
  sustain(load);
}

} // namespace gpuvet
