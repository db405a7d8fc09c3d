// Checks of the CUDA driver's answers, MIG, MPS, compute mode.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList cuda_checks() {
  return {};
}

} // namespace gpuvet
