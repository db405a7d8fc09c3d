// Ctrl-C and SIGTERM as a flag: whoever works looks at it and comes to an orderly end. A second
// signal ends the process at once.
#pragma once

#include <atomic>

namespace gpuvet {

// From the call on, for the rest of the process.
const std::atomic<bool>& watch_interruptions();

} // namespace gpuvet
