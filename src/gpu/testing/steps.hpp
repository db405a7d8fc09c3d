// Steps of `verify` run on the fake GPU, and questions to their results.
#pragma once

#include "gpu/testing/fakes.hpp"
#include "gpu/work/runner.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

inline RunnerOptions fake_runner() {
  RunnerOptions options;
  options.library = fake("current", "libcuda.so.1");
  options.start = std::chrono::steady_clock::now();
  return options;
}

inline StepResult run_fake_step(const std::vector<Step>& steps, std::string_view id,
                                const std::string& words, const StepOptions& options = {}) {
  Steered steered("GPUVET_FAKE_CUDA", words);
  for (const Step& step : steps) {
    if (step.id != id) continue;
    StepRequest request;
    request.step = &step;
    request.options = options;
    request.gpu = "GPU-1";
    return run_steps(0, {request}, fake_runner()).at(0);
  }
  StepResult none;
  none.reason = "there is no such step";
  return none;
}

inline StepResult run_on_fake(const std::vector<Step>& steps, const std::string& id,
                              const std::string& words, const StepOptions& options) {
  return run_fake_step(steps, id, words, options);
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
