// Checks of GPU code of packages against GPU and driver.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList code_checks() {
  return {};
}

} // namespace gpuvet
