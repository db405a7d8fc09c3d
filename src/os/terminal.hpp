// What the output goes to. Colour only on a terminal and never under NO_COLOR (no-color.org); width
// is the terminal's, 80 columns elsewhere, so that recorded output is stable.
#pragma once

namespace gpuvet {

struct Terminal {
  bool colour = false;
  bool interactive = false; // a person is looking: progress lines are welcome
  int width = 80;           // columns
};

// Asks about file descriptor `fd` (1 or 2).
Terminal terminal(int fd);

} // namespace gpuvet
