#include "cli/verify/side_by_side.hpp"

namespace gpuvet {

SideBySide::SideBySide(const std::vector<FrameworkRequest>& requests, FrameworkRun run,
                       const std::function<void(const StepResult&)>& take, bool wait) {
  if (wait) run.go = &go_;
  for (const FrameworkRequest& request : requests)
    threads_.emplace_back([=] { take(run_framework(request, run)); });
}

} // namespace gpuvet
