// The NVIDIA GPUs and the driver of this machine as the kernel tells them: works without a driver,
// without NVML and in a container that shows /sys.
#pragma once

#include "base/observed.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct LocalGpu {
  std::string pci_address; // "0000:65:00.0"
  std::string pci_id;      // "10de:2335"
};

struct LocalGpus {
  std::vector<LocalGpu> gpus;   // by address
  Observed<std::string> driver; // version of the loaded kernel module, "580.159.04"
};

// `root` is "/" or the root of another system's files.
LocalGpus local_gpus(const std::string& root);

} // namespace gpuvet
