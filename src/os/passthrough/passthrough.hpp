// Runs a command as if it had been started directly, and hears what it prints.
//
// Its standard input is ours, untouched; it stays in our session and process group, so that the
// terminal's keys, job control and /dev/tty work as without us. Where our standard output or error
// is a terminal, the command gets a pseudo-terminal of the same size and settings; elsewhere a
// pipe. What it writes is passed on byte for byte, in big pieces, each stream to its own place; two
// that are one ("2>&1") stay one, in order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct CommandEnd {
  enum class How { exited, signalled, not_started };
  How how = How::exited;
  int status = 0; // exit status; signal; errno of not starting it
  // By somebody's wish: Ctrl-C, or a signal that asks to end and that we got too.
  bool asked_to_end = false;

  bool ok() const { return how == How::exited && status == 0; }
};

class Listening;

struct Passed {
  CommandEnd end;
  std::shared_ptr<Listening> listening;
};

// Is called in a thread of its own, with whole lines of one stream at a time. The command never
// waits for it: of what comes faster than it hears, the last 16 to 32 MiB are kept, and empty lines
// stand for the rest.
using Listener = std::function<void(std::string_view)>;

// Returns when the command has ended and what it had written by then is passed on. Processes that
// it left behind and that could still write do not hold us up for more than 0.1 s.
//
// Signals that come to us alone are passed on; those that the terminal sends to the whole group
// reach the command by themselves. When it is stopped (Ctrl-Z), so are we; we go on together.
Passed pass_through(const std::vector<std::string>& command, Listener listener);

// What the listener had still to hear; waits for it. Without this call, or when the object goes,
// the rest stays unheard. Gives the number of bytes that came too fast to be heard.
uint64_t hear_the_rest(Listening& listening);

// Ends this process as the command ended: with its exit status, or by the same signal; 127 or 126
// where there was no such command or it could not be run, as a shell does.
[[noreturn]] void end_like(const CommandEnd& end);

} // namespace gpuvet
