// Asks NVML and the CUDA driver, each in a child process of its own that may hang, crash or be
// killed without harm. Start both first, do the rest, then collect: they work meanwhile.
//
// A GPU on which the library hangs or crashes is given up; the others are asked by a new child.
// What was answered before stays.
#pragma once

#include "model/machine/gpu_answers.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gpuvet {

struct AskOptions {
  double deadline_s = 10; // for everything, from the start
  bool contexts = false;  // CUDA: make a context on each device
  // NVML: also check the boards' InfoROMs. Each holds the driver for 70 ms on an H200, and a cuInit
  // beside it, of whatever process, takes that much longer (measured 2026-12-01, driver
  // 580.159.04).
  bool read_roms = false;
  std::string library; // this file instead of the one that the loader finds
};

struct CallTime {
  std::string call; // "nvmlDeviceGetUUID(GPU 3)"
  double seconds = 0;
};

class Talk;

// Copies are the same question.
struct NvmlQuestion {
  std::shared_ptr<Talk> talk;
};

struct CudaQuestion {
  std::shared_ptr<Talk> talk;
};

// The thread that starts must outlive the question: the child dies with it.
NvmlQuestion start_nvml(const AskOptions& options);
CudaQuestion start_cuda(const AskOptions& options);

// Once for each question. `times`: how long each call took.
NvmlAnswers collect(const NvmlQuestion& question, std::vector<CallTime>* times = nullptr);
CudaAnswers collect(const CudaQuestion& question, std::vector<CallTime>* times = nullptr);

} // namespace gpuvet
