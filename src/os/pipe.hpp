// What start_child() and start_command() share.
#pragma once

#include "base/result.hpp"

namespace gpuvet {

struct Pipe { // closes its ends; reading does not block
  Pipe(int read_end, int write_end) : read(read_end), write(write_end) {}
  Pipe(Pipe&& other) noexcept;
  Pipe& operator=(Pipe&& other) = delete;
  ~Pipe();

  int read = -1, write = -1;
};

Result<Pipe> make_pipe();

// In a child: what this process does on signals is not for it.
void default_signals();

} // namespace gpuvet
