// Checks of WSL, Jetson, clouds, virtual GPUs.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList platform_checks() {
  return {};
}

} // namespace gpuvet
