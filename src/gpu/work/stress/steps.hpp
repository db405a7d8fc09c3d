// The tests of stress_steps(), each in its own file.
#pragma once

#include "gpu/work/bench.hpp"

namespace gpuvet {

void run_launch(Bench& bench, const StepOptions& options);
void run_graph(Bench& bench, const StepOptions& options);
void run_pipe_rate(Bench& bench, const StepOptions& options);
void run_gemm(Bench& bench, const StepOptions& options);
void run_memory_patterns(Bench& bench, const StepOptions& options);
void run_pulse(Bench& bench, const StepOptions& options);

} // namespace gpuvet
