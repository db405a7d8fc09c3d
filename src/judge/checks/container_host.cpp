// Checks of runtimes and their configuration.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList container_host_checks() {
  return {};
}

} // namespace gpuvet
