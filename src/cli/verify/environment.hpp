// What of the machine verify needs to know beside its GPUs: where it runs, which Pythons and which
// libraries are there.
#pragma once

#include "gpu/frameworks/frameworks.hpp"
#include "gpu/work/bench.hpp"
#include "model/machine.hpp"

#include <string>
#include <vector>

namespace gpuvet {

// "bare metal", "virtual machine", "wsl2", "container"; what cannot be told is "unknown".
std::string host_kind(const Machine& machine);

// cuBLASLt, cuDNN and NCCL as the first named or active Python has them, else as the loader finds
// them.
LibraryFiles library_files(const Machine& machine);

// Those of probed_frameworks() that each Python has installed, a group for each Python that has
// any.
using FrameworkGroups = std::vector<std::vector<FrameworkRequest>>;
FrameworkGroups framework_groups(const Machine& machine, uint64_t seed, bool quick);

} // namespace gpuvet
