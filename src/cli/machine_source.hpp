// Which machine a command is about: this one, a folder of files (--root), or a recording (--image).
#pragma once

#include "probe/probe.hpp"

#include <string>

namespace CLI {
class App;
}

namespace gpuvet {

struct MachineOptions {
  std::string image, root;
  std::vector<std::string> pythons;
  double deadline_s = 10;
  bool cuda = true;
  bool contexts = false;
  bool import_packages = false;
  bool read_roms = false; // of the GPUs' boards, see AskOptions
};

void add_machine_options(CLI::App& app, MachineOptions& options);

// The source of the machine that the options name. NVML and the CUDA driver of this machine are
// asked from the call on, in child processes; so call it before anything slow.
Result<Source> machine_source(const MachineOptions& options);

Machine see_machine(const Source& source, const MachineOptions& options);

// After a deadline, threads may still wait for the machine: ends the process without waiting.
[[noreturn]] void leave(int status);

} // namespace gpuvet
