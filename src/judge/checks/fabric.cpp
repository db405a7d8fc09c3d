// Checks of NVSwitch, NVLink, fabric manager.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList fabric_checks() {
  return {};
}

} // namespace gpuvet
