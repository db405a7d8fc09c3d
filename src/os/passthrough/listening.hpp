// The thread that hears what is passed on. Whoever passes on never waits for it: when it lags by
// more than 32 MiB, the oldest of that is dropped, down to its line ends, so that lines keep their
// numbers.
#pragma once

#include "os/passthrough/passthrough.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace gpuvet {

class Listening {
 public:
  explicit Listening(Listener listener);
  ~Listening(); // what was not heard yet is dropped

  void take(std::string_view bytes);
  void finish();                                // hears all that waits, then returns
  uint64_t unheard() const { return unheard_; } // bytes; after finish()

 private:
  void hear();
  void drop_oldest();

  Listener listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> waiting_;
  size_t bytes_ = 0;                         // in waiting_
  uint64_t dropped_lines_ = 0, unheard_ = 0; // lines to be made up for; bytes in all
  bool closed_ = false, abandoned_ = false;
  std::thread thread_;
};

} // namespace gpuvet
