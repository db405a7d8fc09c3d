// Which GPUs take part in a run: those that were named, and of these the ones that can be used.
#pragma once

#include "cli/verify/options.hpp"
#include "gpu/work/runner.hpp"
#include "model/verify/measurements.hpp"

#include <string>
#include <vector>

namespace gpuvet {

std::string label_of(const VerifiedGpu& gpu); // "GPU 3"; one that CUDA does not have: its UUID

bool is_wanted(const VerifyOptions& options, const VerifiedGpu& gpu);

// Empty: each is there. To leave one out would let the others pass for all.
std::string why_not_named(const VerifyOptions& options, const std::vector<VerifiedGpu>& gpus);

// A GPU on which no context can be made takes part in nothing else; GPUs that are needed for a step
// of several make that step void too.
void mark_unusable(Measurements& measured);

// Empty: the GPUs that a step needs can be used.
std::string why_not(const Measurements& measured, const StepRequest& request);

} // namespace gpuvet
