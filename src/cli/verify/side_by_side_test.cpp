#include "cli/verify/side_by_side.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace gpuvet {
namespace {

// Both have imported before either is let near the GPU; one after the other, or without waiting,
// the first would have ended by then.
TEST(SideBySide, AllImportBeforeAnyGoesOn) {
  const std::string python = "/usr/bin/python3";
  if (!std::filesystem::exists(python)) GTEST_SKIP() << "no " << python;
  setenv("PYTHONPATH", (std::string(GPUVET_SOURCE_DIR) + "/tests/fakes/python").c_str(), 1);
  std::mutex mutex;
  size_t waiting = 0;
  std::vector<StepState> ended;
  const auto count = [&](const auto& of) {
    std::lock_guard lock(mutex);
    return of();
  };
  FrameworkRun run;
  run.start = std::chrono::steady_clock::now();
  run.news = [&](const std::string&, const StepNews& news) {
    std::lock_guard lock(mutex);
    waiting += news.step == "framework-torch" && news.name == "waiting";
  };
  FrameworkRequest request{.python = python, .framework = "torch"};
  {
    SideBySide both(
        {request, request}, run,
        [&](const StepResult& result) {
          std::lock_guard lock(mutex);
          ended.push_back(result.state);
        },
        true);
    while (count([&] { return waiting + ended.size(); }) < 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(count([&] { return ended.size(); }), 0u);
    both.let_go();
  }
  unsetenv("PYTHONPATH");
  EXPECT_EQ(ended, (std::vector<StepState>{StepState::done, StepState::done}));
}

} // namespace
} // namespace gpuvet
