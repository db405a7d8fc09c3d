#include "gpu/work/libraries/steps.hpp"

namespace gpuvet {

// A cold cuBLASLt is half a gigabyte to be read from disk.
const std::vector<Step>& library_steps() {
  static const std::vector<Step> kSteps = {
      {"library-cublaslt", 120, run_library_cublaslt},
      {"library-cudnn", 120, run_library_cudnn},
      {"library-nccl", 120, run_library_nccl},
      {"gemm-library", 120, run_gemm_library},
      {"convolution", 120, run_convolution},
      {"all-reduce", 180, run_all_reduce}, // once for the machine: with options.all
  };
  return kSteps;
}

} // namespace gpuvet
