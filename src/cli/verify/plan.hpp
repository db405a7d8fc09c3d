// Which steps run on which GPU, in which order and for how long.
#pragma once

#include "cli/verify/options.hpp"
#include "cli/verify/schedule.hpp"
#include "gpu/work/runner.hpp"

#include <string>
#include <vector>

namespace gpuvet {

// Steps that run at the same time on several GPUs, each list in its order; or on one.
struct PhaseLane {
  int ordinal = -1; // of the CUDA driver
  std::vector<StepRequest> requests;
};

struct Phase {
  std::string layer;
  std::vector<PhaseLane> lanes;
};

struct PlannedGpu {
  std::string uuid;
  int ordinal = -1;
};

struct PlanInput {
  std::vector<PlannedGpu> gpus;
  VerifyOptions options;
  LibraryFiles libraries;
  uint64_t seed = 1;
  const VerifyTables& tables;
};

// The device layer comes first and is a phase of its own: a GPU that fails there is left out of the
// others by whoever runs the plan. Frameworks are not in it.
std::vector<Phase> plan_phases(const PlanInput& input);

} // namespace gpuvet
