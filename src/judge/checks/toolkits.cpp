// Checks of installed toolkits, nvcc, host compiler, repositories.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList toolkit_checks() {
  return {};
}

} // namespace gpuvet
