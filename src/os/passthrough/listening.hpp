// The thread that hears what is passed on. Whoever passes on never waits for it, unless it lags by
// 64 MiB.
#pragma once

#include "os/passthrough/passthrough.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace gpuvet {

class Listening {
 public:
  explicit Listening(Listener listener);
  ~Listening(); // what was not heard yet is dropped

  void take(std::string_view bytes);
  void finish(); // hears all that was taken, then returns

 private:
  void hear();

  Listener listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;
  size_t bytes_ = 0; // in waiting_
  bool closed_ = false, dropped_ = false;
  std::thread thread_;
};

} // namespace gpuvet
