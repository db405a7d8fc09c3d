// Checks of the driver, by what they look at, and what they share.
#pragma once

#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet::driver {

CheckList module_checks();  // modules.cpp: why the module is not loaded
CheckList version_checks(); // versions.cpp: module, files, libraries and packages of one release
CheckList gpu_checks();     // gpus.cpp: branch and flavour against each GPU
CheckList bringup_checks(); // bringup.cpp: GPUs that did not come up, or belong to another driver
CheckList state_checks();   // state.cpp: unified memory, suspend, persistence, hanging programs

// GPUs on the PCI bus that the driver should serve and does not: NVML does not answer for them, and
// they are neither reserved for virtual machines nor excluded.
std::vector<const PciFunction*> unserved_gpus(const Machine& machine);

// The answer of a check of unserved GPUs where there is none; nullopt: there are some.
std::optional<Outcome> every_gpu_served(const Machine& machine);

} // namespace gpuvet::driver
