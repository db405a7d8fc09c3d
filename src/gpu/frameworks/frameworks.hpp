// Does a framework of a Python environment really work on a GPU? A short program of ours (probe.py)
// is given to that Python: it imports the framework, sees the GPU, makes a tensor, multiplies,
// convolves, compares with the CPU, gives memory back, and tells each stage before it begins.
// Nothing is written to the environment.
//
// The user's variables (PYTHONPATH, LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES, ...) stay as they are:
// they are part of what is tested.
#pragma once

#include "gpu/work/telling.hpp"
#include "model/verify/measurements.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace gpuvet {

// "torch", "tensorflow", "jax", "cupy": what probe.py knows, by the name that Python imports.
const std::vector<std::string>& probed_frameworks();

struct FrameworkRequest {
  std::string python;    // full path of the interpreter
  std::string framework; // of probed_frameworks()
  uint64_t seed = 1;
  double deadline_s = 120;
  std::string device = "cuda"; // "cpu" to try the program itself
  bool quick = false; // XLA need not look for its fastest algorithms, unless the user set XLA_FLAGS
};

struct FrameworkRun {
  Moment start; // of the whole run
  // Imported at once, it touches the GPU only when this becomes true; null: as soon as it can.
  const std::atomic<bool>* go = nullptr;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string& python, const StepNews& news)> news;
};

// One result, "framework-torch", with the Python as its peer. A framework that is not installed is
// unsupported; one that hangs or dies says in which stage, and the last line that it printed.
StepResult run_framework(const FrameworkRequest& request, const FrameworkRun& run);

} // namespace gpuvet
