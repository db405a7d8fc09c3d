// Checks of /dev/nvidia*, permissions, numbering.
#include "judge/checks/subjects.hpp"

namespace gpuvet {

CheckList device_checks() {
  return {};
}

} // namespace gpuvet
