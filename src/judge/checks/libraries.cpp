// Checks of cuDNN, NCCL, cuBLAS and their mixtures.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList library_checks() {
  return {};
}

} // namespace gpuvet
