#include "gpu/work/device/device_steps.hpp"

namespace gpuvet {

const std::vector<Step>& device_steps() {
  static const std::vector<Step> steps = {
      {"device-context", 20, device_context},
      {"device-jit", 30, device_jit},
      {"device-clock", 15, device_clock},
  };
  return steps;
}

} // namespace gpuvet
