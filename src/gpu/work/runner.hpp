// Runs tests in child processes and gathers what they tell. A test that hangs, crashes or breaks
// its context costs nothing but itself: the rest goes on in a new child.
#pragma once

#include "gpu/work/bench.hpp"
#include "model/verify/measurements.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace gpuvet {

struct StepRequest {
  const Step* step = nullptr;
  StepOptions options;
  std::string gpu, peer; // UUIDs, for the result
};

struct RunnerOptions {
  std::string library;          // this libcuda instead of the loader's; for tests
  Moment start;                 // of the run: all times count from here
  double start_deadline_s = 30; // for the driver to start and the context to be made, in each child
  const std::atomic<bool>* interrupted = nullptr; // set: nothing new begins, what runs is ended
  // From the thread that runs; may be empty.
  std::function<void(const std::string& gpu, const StepNews& news)> news;
  std::function<void(const StepResult& result)> finished;
};

// Times out a step at its deadline_s plus options.seconds, from its begin; in a new child, from
// when the context was made. When two children in a row did not get that far, the rest is not run.
//
// All requests for one GPU, in order; `ordinal` is the CUDA driver's. Blocks; call it from one
// thread per GPU to have all work at once. Results are in the order of the requests.
std::vector<StepResult> run_steps(int ordinal, const std::vector<StepRequest>& requests,
                                  const RunnerOptions& options);

} // namespace gpuvet
