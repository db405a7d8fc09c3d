// One way for the command's output: what it writes to, and where that goes.
#pragma once

#include "os/passthrough/listening.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <sys/ioctl.h>
#include <termios.h>
#include <thread>

namespace gpuvet {

class Channel {
 public:
  // For what goes to our descriptor `out`, which is open. Null: neither a pipe nor a
  // pseudo-terminal can be made; the command then gets `out` itself.
  static std::unique_ptr<Channel> make(int out);
  ~Channel();

  int out() const { return out_; }
  int theirs() const { return theirs_; } // for the command
  void close_theirs();

  void start(Listening& listening);
  bool done() const { return done_; } // everything was passed on, or nobody takes it
  // What is there by now is passed on, then it ends; does not wait for writers.
  void stop();
  void join();
  void abandon(); // the process ends anyway, and whoever should read does not

  // The size of our terminal to that of the command; true: it has changed.
  bool pass_size();
  // What the command has set on its terminal, in force on ours: raw input, echo. Only while we are
  // in the foreground.
  void pass_settings();

 private:
  explicit Channel(int out) : out_(out) {}
  bool open_pipe();
  bool open_terminal();
  void pump();
  bool pass_on(std::string_view bytes); // false: nobody reads any more
  void close_ours();
  void hear(std::string_view bytes);
  long read_some(char* buffer, size_t size, std::string_view& bytes);

  int out_, ours_ = -1, theirs_ = -1, stop_ = -1;
  std::mutex mutex_; // of ours_ and what is known of the terminal
  bool terminal_ = false;
  termios settings_{}; // as last seen on the command's terminal
  winsize size_{};
  Listening* listening_ = nullptr;
  std::string part_; // of a line that has no end yet
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

} // namespace gpuvet
