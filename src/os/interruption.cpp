#include "os/interruption.hpp"

#include <csignal>

namespace gpuvet {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free); // it is set in a signal handler

void note(int number) {
  if (interrupted.exchange(true)) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

} // namespace

const std::atomic<bool>& watch_interruptions() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (int number : {SIGINT, SIGTERM})
    sigaction(number, &action, nullptr);
  return interrupted;
}

} // namespace gpuvet
