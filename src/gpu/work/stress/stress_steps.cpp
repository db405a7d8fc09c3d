#include "gpu/work/stress/steps.hpp"

namespace gpuvet {

const std::vector<Step>& stress_steps() {
  static const std::vector<Step> kSteps = {
      {"launch", 30, run_launch},
      {"graph", 30, run_graph},
      {"pipe-rate", 30, run_pipe_rate},
      {"gemm", 60, run_gemm},
      {"memory-patterns", 60, run_memory_patterns},
      {"pulse", 60, run_pulse},
  };
  return kSteps;
}

} // namespace gpuvet
