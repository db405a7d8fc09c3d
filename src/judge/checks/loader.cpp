// Checks of which shared libraries are found.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList loader_checks() {
  return {};
}

} // namespace gpuvet
