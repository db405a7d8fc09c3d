#include "cli/verify/taking_part.hpp"

#include <algorithm>

namespace gpuvet {

std::string label_of(const VerifiedGpu& gpu) {
  return gpu.ordinal < 0 ? gpu.uuid : "GPU " + std::to_string(gpu.ordinal);
}

bool is_wanted(const VerifyOptions& options, const VerifiedGpu& gpu) {
  return options.gpus.empty() ||
         std::any_of(options.gpus.begin(), options.gpus.end(), [&](const std::string& name) {
           return name == std::to_string(gpu.ordinal) || name == gpu.uuid;
         });
}

std::string why_not_named(const VerifyOptions& options, const std::vector<VerifiedGpu>& gpus) {
  for (const std::string& name : options.gpus) {
    const bool there = std::any_of(gpus.begin(), gpus.end(), [&](const VerifiedGpu& gpu) {
      return name == std::to_string(gpu.ordinal) || name == gpu.uuid;
    });
    if (!there) return "the CUDA driver offers no GPU " + name;
  }
  return {};
}

void mark_unusable(Measurements& measured) {
  for (const StepResult& result : measured.steps) {
    if (result.id != "device-context" || result.state == StepState::done) continue;
    for (VerifiedGpu& gpu : measured.gpus)
      if (gpu.uuid == result.gpu && gpu.why_unusable.empty()) gpu.why_unusable = result.reason;
  }
}

std::string why_not(const Measurements& measured, const StepRequest& request) {
  for (const VerifiedGpu& gpu : measured.gpus) {
    if (gpu.why_unusable.empty()) continue;
    const bool all = request.gpu.empty();
    if (all || gpu.uuid == request.gpu || gpu.uuid == request.peer)
      return label_of(gpu) + " cannot be used: " + gpu.why_unusable;
  }
  return {};
}

} // namespace gpuvet
