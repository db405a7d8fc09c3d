// A child process: what may hang or crash happens there, and hanging or crashing becomes an answer.
//
// The child writes, its parent collects until a moment of its choice. It can be started early and
// be collected late; it is killed with its parent and when the Child object goes. A process that
// sleeps inside a driver cannot even be killed: the parent then leaves it behind and goes on.
#pragma once

#include "base/result.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace gpuvet {

using Moment = std::chrono::steady_clock::time_point;

inline Moment seconds_after(Moment start, double seconds) {
  std::chrono::duration<double> length(std::min(seconds, 1e8)); // what the clock can count
  return start + std::chrono::duration_cast<Moment::duration>(length);
}

inline double seconds_since(Moment start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct ChildEnd {
  enum class How : uint8_t { exited, signalled, killed };
  How how = How::exited;
  int status = 0;       // exit status, or the signal that it died of by itself
  char state = '?';     // killed: what it did until then; 'D' sleeps inside the kernel
  bool remains = false; // killed, but it did not die
};

class Child {
 public:
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  enum class Event : uint8_t { output, ended, nothing };

  // Waits until the child has written something, has ended, or `until` has come.
  Event wait(Moment until);

  // Everything from its pipe so far; the rest beyond 4 MiB is dropped, and cut() tells.
  const std::string& output() const { return output_.text; }
  // The same, and forgets it: for a child that goes on writing for hours.
  std::string take_output() { return std::exchange(output_.text, {}); }
  // What it printed: standard output and error of a function, standard error of a command.
  const std::string& printed() const { return printed_.text; }
  bool cut() const { return output_.cut || printed_.cut; }

  // How it ended; one that still runs is killed. Takes 0.1 s at most.
  ChildEnd end();

 private:
  friend Result<Child> start_child(const std::function<void(int)>& work);
  friend Result<Child> start_command(const std::vector<std::string>& command, int input);

  struct Stream {
    int fd = -1;
    bool cut = false;
    std::string text;

    bool read_what_is_there(); // false: nothing new
    void close();
  };

  Child() = default;
  bool reap();
  void kill_it() const;

  pid_t pid_ = -1;
  bool group_ = false; // leads a process group of its own
  bool reaped_ = false;
  int wait_status_ = 0;
  Stream output_, printed_;
};

// Runs `work` in a forked child; what it writes to `fd` is the output. The child has no other
// descriptor of this process, default signal handlers and writes no core file. It is killed when
// the thread that started it ends.
//
// May be called while other threads run: glibc makes malloc, stdio and the loader usable in the
// child. `work` must not wait for those threads nor take locks that they may hold.
Result<Child> start_child(const std::function<void(int fd)>& work);

// Runs a program by its path: no shell, LC_ALL=C, a process group of its own. `input`: descriptor
// that it reads as its standard input (where a read does not block when it is a Pipe's); -1: none.
Result<Child> start_command(const std::vector<std::string>& command, int input = -1);

struct CommandResult {
  ChildEnd end;
  std::string output, errors;
  bool cut = false;
};

// The same, waiting for its end. A program that cannot be started is an error.
Result<CommandResult> run_command(const std::vector<std::string>& command, double deadline_s);

} // namespace gpuvet
