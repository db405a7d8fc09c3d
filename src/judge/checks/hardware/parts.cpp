#include "judge/checks/hardware/parts.hpp"

namespace gpuvet {
namespace hardware {

bool is_busy(const NvmlGpu& gpu) {
  constexpr uint32_t busiest_states = 2; // P0 to P2: memory at full clock
  bool works = gpu.utilisation_percent && *gpu.utilisation_percent > 0;
  return works && (!gpu.performance_state || *gpu.performance_state <= busiest_states);
}

std::optional<Outcome> nvml_silent(const Machine& machine) {
  if (machine.nvml.asked.state != AskState::answered) {
    if (!has_gpu(machine)) return not_applicable("there is no GPU of NVIDIA");
    return not_known("NVML did not answer: " + machine.nvml.asked.problem);
  }
  if (machine.nvml.gpus.empty()) return not_applicable("NVML lists no GPU");
  return std::nullopt;
}

} // namespace hardware

CheckList hardware_checks() {
  CheckList list;
  for (const CheckList& part : {hardware::health_checks(), hardware::memory_checks(),
                                hardware::link_checks(), hardware::clock_checks()})
    list.insert(list.end(), part.begin(), part.end());
  return list;
}

} // namespace gpuvet
