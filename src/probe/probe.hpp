// Fills a Machine from a Source. Each probe fills the part that it is named for; all are
// independent of each other apart from what their arguments say, so that they can run at once.
#pragma once

#include "probe/source.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct ProbeOptions {
  std::vector<std::string> pythons; // interpreters named by the user
  bool cuda = true;                 // ask the CUDA driver too
  bool import_packages = false;     // run the interpreters' imports
};

// kernel/: what the kernel shows.
void probe_kernel(const Source& source, Machine& machine);
// place/: distribution, surroundings, services, container host, network, periodic jobs.
void probe_place(const Source& source, Machine& machine);
// software/: packages, toolkits, CUDA libraries on disk, settings files.
void probe_software(const Source& source, Machine& machine);
// The same part, after probe_loader: which packages own the driver's user-space files.
void attribute_driver_files(const Source& source, Machine& machine);
// loader/: what the loader would do, and the driver's user-space files.
void probe_loader(const Source& source, Machine& machine);
// software/: owner and origin of the driver's files. Needs what the software and loader probes
// fill.
void attribute_driver_files(const Source& source, Machine& machine);
// python/: Python environments.
void probe_pythons(const Source& source, const ProbeOptions& options, Machine& machine);

// All of them, NVML and CUDA included, on a few threads; `deadline_s` counts from the call. What
// was not finished by then is named in Machine::not_finished and its part stays unknown.
Machine probe_machine(const Source& source, const ProbeOptions& options, double deadline_s);

} // namespace gpuvet
