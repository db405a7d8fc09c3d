// What is here, from whichever source answers: the GPUs with their compute capability, and the
// driver that programs get. Checks ask this and not one probe, so that a broken NVML or a CUDA
// driver that was not asked does not blind them.
#pragma once

#include "base/observed.hpp"
#include "facts/facts.hpp"
#include "judge/load/load.hpp"
#include "model/machine.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct GpuHere {
  std::string name;        // "NVIDIA H200"; empty: not told
  std::string pci_address; // empty: not told
  uint32_t sm = 0;
  std::string evidence; // "NVML: NVIDIA H200, compute capability 9.0"
};

// Known and empty: looked for and none found. Unknown: it could not be looked for, or there is one
// whose compute capability nothing tells.
Observed<std::vector<GpuHere>> gpus_here(const Machine& machine, const Facts& facts);

// Were they told by NVML or the CUDA driver, so that this machine's driver does drive them?
bool seen_by_driver(const Observed<std::vector<GpuHere>>& gpus);

// Their compute capabilities, each once, ascending.
std::vector<uint32_t> capabilities(const std::vector<GpuHere>& gpus);

// "NVIDIA V100 (7.0)", "4 NVIDIA H200 (9.0), NVIDIA T4 (7.5)"
std::string gpus_text(const std::vector<GpuHere>& gpus);

// Is a GPU of NVIDIA expected to work here: NVML, CUDA or the PCI bus has one, or this is WSL or a
// Jetson? Unknown where the bus could not be looked at.
Observed<bool> expects_gpu(const Machine& machine);

struct DriverHere {
  LoadDriver driver; // `text` is the version, or the CUDA version where only that is known
  std::string evidence;
};

// The driver that programs get: its CUDA version is the loaded libcuda's, which a cuda-compat
// package can raise above the kernel module's.
Observed<DriverHere> driver_here(const Machine& machine, const LoadRules& rules);

LoadDevice device_of(const GpuHere& gpu, const LoadRules& rules);

// "12.4" of 12040
Version cuda_version(uint32_t number);

// The variables that change which code is loaded, as they are set here.
LoadEnvironment load_environment(const std::map<std::string, std::string>& environment);

} // namespace gpuvet
