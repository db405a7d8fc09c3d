// Checks of packages, pins, duplicates, CPU builds.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList python_checks() {
  return {};
}

} // namespace gpuvet
