// Checks of Kubernetes, Slurm.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList cluster_checks() {
  return {};
}

} // namespace gpuvet
