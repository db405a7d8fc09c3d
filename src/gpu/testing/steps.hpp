// Steps of `verify` run on the fake GPU, and questions to their results.
#pragma once

#include "gpu/testing/fakes.hpp"
#include "gpu/work/runner.hpp"

namespace gpuvet {

inline StepResult run_on_fake(const std::vector<Step>& steps, const std::string& id,
                              const std::string& words, const StepOptions& options) {
  Steered steered("GPUVET_FAKE_CUDA", words);
  RunnerOptions runner;
  runner.library = fake("current", "libcuda.so.1");
  runner.start = std::chrono::steady_clock::now();
  StepRequest request;
  for (const Step& step : steps)
    if (id == step.id) request.step = &step;
  request.options = options;
  return run_steps(0, {request}, runner).front();
}

inline const std::vector<double>& samples(const StepResult& result, const std::string& name) {
  static const std::vector<double> none;
  auto found = result.readings.find(name);
  return found == result.readings.end() ? none : found->second.samples;
}

inline double last(const StepResult& result, const std::string& name) {
  return samples(result, name).empty() ? -1 : samples(result, name).back();
}

inline bool says(const StepResult& result, const std::string& text) {
  return result.reason.find(text) != std::string::npos;
}

} // namespace gpuvet
