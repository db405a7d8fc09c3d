// Frameworks of one Python side by side: whether they are right does not depend on who else works,
// and importing them takes most of the time.
#pragma once

#include "gpu/frameworks/frameworks.hpp"

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace gpuvet {

class SideBySide {
 public:
  // `take`: from several threads. `wait`: they import at once, and touch the GPU after let_go().
  SideBySide(const std::vector<FrameworkRequest>& requests, FrameworkRun run,
             const std::function<void(const StepResult&)>& take, bool wait);
  ~SideBySide() { let_go(); } // and waits for their end
  SideBySide(const SideBySide&) = delete;

  void let_go() { go_ = true; }

 private:
  std::atomic<bool> go_ = false;
  std::vector<std::jthread> threads_;
};

} // namespace gpuvet
