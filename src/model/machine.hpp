// One machine, as far as it could be seen. Filled by the probes, judged without touching the
// machine again; each value says where it came from or why it is not known.
#pragma once

#include "model/machine/gpu_answers.hpp"
#include "model/machine/kernel_side.hpp"
#include "model/machine/loader.hpp"
#include "model/machine/software.hpp"
#include "model/machine/system.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuvet {

// A process that has a GPU's node open or a CUDA library mapped.
struct GpuProcess {
  uint64_t pid = 0;
  std::string name, state;                        // "python3", "D (disk sleep)"
  std::string wait;                               // kernel function it sleeps in
  std::vector<std::string> nodes;                 // open /dev/nvidia*
  std::vector<std::string> libraries;             // mapped libcuda, libcudart, cuDNN, NCCL, ...
  std::map<std::string, std::string> environment; // CUDA_*, NCCL_*, ... as it was started
  std::optional<uint64_t> memlock_bytes;
  std::optional<int64_t> started; // seconds since 1970
  std::string unit, container;    // of its cgroup
  bool ours = true;               // same user: everything could be read
};

enum class Seen : uint8_t { live, image_folder, recording };

struct Machine {
  // Compiled once: written by every file that copies a machine, they were half of what it compiles
  // to.
  Machine();
  Machine(const Machine&);
  Machine(Machine&&) noexcept;
  Machine& operator=(const Machine&);
  Machine& operator=(Machine&&) noexcept;
  ~Machine();

  Seen seen = Seen::live;
  SystemFacts system;
  Distribution distribution;
  Surroundings surroundings;
  KernelSide kernel;
  NvmlAnswers nvml;
  CudaAnswers cuda;
  DriverFiles driver;
  Packages packages;
  Toolkits toolkits;
  LoaderState loader;
  std::vector<CudaLibrary> libraries;
  std::vector<CudnnHeader> cudnn_headers;
  std::vector<PythonEnv> pythons;
  ContainerHost container_host;
  std::vector<ServiceUnit> services;
  std::vector<PeriodicJob> periodic;
  NetworkFacts network;
  FabricManager fabric_manager;
  Observed<std::vector<GpuProcess>> processes;
  std::map<std::string, std::string> environment; // variables that bear on CUDA, as set here
  std::vector<std::string> not_finished;          // probes cut short by the deadline
};

} // namespace gpuvet
