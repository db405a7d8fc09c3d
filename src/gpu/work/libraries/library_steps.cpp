#include "gpu/work/libraries/steps.hpp"

namespace gpuvet {

// A cold cuBLASLt is half a gigabyte to be read from disk.
const std::vector<Step>& library_steps() {
  static const std::vector<Step> kSteps = {
      {"library-cublaslt", 120, run_library_cublaslt},
      {"gemm-library", 120, run_gemm_library},
  };
  return kSteps;
}

} // namespace gpuvet
