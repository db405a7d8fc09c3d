// The tests of library_steps(), each in its own file.
#pragma once

#include "gpu/work/bench.hpp"

namespace gpuvet {

void run_gemm_library(Bench& bench, const StepOptions& options);
void run_convolution(Bench& bench, const StepOptions& options);
void run_all_reduce(Bench& bench, const StepOptions& options);
void run_library_cublaslt(Bench& bench, const StepOptions& options);
void run_library_cudnn(Bench& bench, const StepOptions& options);
void run_library_nccl(Bench& bench, const StepOptions& options);

} // namespace gpuvet
