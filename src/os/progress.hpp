// One line on standard error that tells how far work has come; appears only after a second, only
// for a person, and is gone when the work is done.
#pragma once

#include "os/terminal.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace gpuvet {

class Progress {
 public:
  Progress(const Terminal& terminal, std::string what, uint64_t total_bytes);
  ~Progress() { done(); }

  // From any thread: `bytes` more are finished, `now` is what was worked on.
  void add(uint64_t bytes, const std::string& now);
  void done();

 private:
  std::mutex mutex_;
  Terminal terminal_;
  std::string what_;
  uint64_t total_, finished_ = 0;
  std::chrono::steady_clock::time_point start_, shown_at_;
  bool shown_ = false;
};

} // namespace gpuvet
