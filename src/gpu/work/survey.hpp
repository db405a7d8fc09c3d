// Which GPUs are there to be tested, and how they stand: the CUDA driver says which (so
// CUDA_VISIBLE_DEVICES is honoured), NVML says the rest; joined by UUID, since NVML's index is not
// CUDA's ordinal. Every question is asked in a child with a deadline, all at once.
#pragma once

#include "model/machine/gpu_answers.hpp"
#include "model/verify/measurements.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuvet {

struct SurveyOptions {
  double deadline_s = 20;                 // of each question
  std::string cuda_library, nvml_library; // these files instead of the loader's; for tests
  std::function<void()> meanwhile; // called once a GPU is there, while others are still being asked
};

struct Survey {
  std::string driver, cuda;      // "580.65.06", "13.0"
  std::string no_gpu_why;        // not empty: there is no GPU to be tested, and why
  std::string nvml_problem;      // not empty: NVML told nothing or not all, and why
  std::vector<VerifiedGpu> gpus; // in CUDA's order; `before` is filled
};

// Takes 0.6 s at least: so long it looks whether somebody else uses a GPU.
Survey survey_gpus(const SurveyOptions& options = {});

// Reads the counters again, into `after`.
void read_counters_after(std::vector<VerifiedGpu>& gpus, const SurveyOptions& options = {});

} // namespace gpuvet
