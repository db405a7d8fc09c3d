// Checks of variables and start-up files.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList environment_checks() {
  return {};
}

} // namespace gpuvet
