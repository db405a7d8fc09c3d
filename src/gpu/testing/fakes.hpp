// The fake libraries of tests/fakes, steered for the length of one test.
#pragma once

#include "gpu/ask.hpp"

#include <chrono>
#include <cstdlib>
#include <string>

namespace gpuvet {

class Steered { // sets a variable and takes it back
 public:
  Steered(const char* variable, const std::string& words) : variable_(variable) {
    setenv(variable, words.c_str(), 1);
  }
  Steered(const Steered&) = delete;
  Steered& operator=(const Steered&) = delete;
  ~Steered() { unsetenv(variable_); }

 private:
  const char* variable_;
};

inline std::string fake(const std::string& folder, const std::string& library) {
  return std::string(GPUVET_FAKES) + "/" + folder + "/" + library;
}

inline AskOptions fake_options(const std::string& library, double deadline_s) {
  AskOptions options;
  options.deadline_s = deadline_s;
  options.library = library;
  return options;
}

inline NvmlAnswers ask_fake_nvml(const std::string& words, double deadline_s = 5,
                                 const std::string& folder = "current") {
  Steered steered("GPUVET_FAKE_NVML", words);
  return collect(start_nvml(fake_options(fake(folder, "libnvidia-ml.so.1"), deadline_s)));
}

inline CudaAnswers ask_fake_cuda(const std::string& words, double deadline_s = 5,
                                 const std::string& folder = "current") {
  Steered steered("GPUVET_FAKE_CUDA", words);
  return collect(start_cuda(fake_options(fake(folder, "libcuda.so.1"), deadline_s)));
}

} // namespace gpuvet
