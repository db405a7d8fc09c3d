// Checks of inside a container.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList container_checks() {
  return {};
}

} // namespace gpuvet
