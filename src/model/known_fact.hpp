// One fact about a machine by name, as a judgement over texts needs it: read from a pasted report
// or taken from this machine. Several facts may have one name (two GPUs, two libraries).
//
// Names: driver.version 535.104.05, driver.cuda 12.2, driver.open yes|no, nvcc.version 12.1,
// nvcc.path, gpu.name, gpu.capability 8.6, gpu.count, gpu.memory_bytes, gpu.free_bytes,
// torch.version 2.1.0+cu118 (all of it), torch.cuda 11.8 (none: a build for CPUs), torch.archs,
// torch.cxx11_abi yes|no, tensorflow.version, jax.version, package.NAME (version of any Python
// package, name as pip prints it in lower case), cudnn.version, nccl.version, python.version,
// os.name, os.version, kernel.version, glibc.version, gcc.version, cmake.version, wsl yes|no,
// jetson yes|no, container docker|podman|kubernetes|apptainer, shm.bytes, memlock, env.NAME,
// module.loaded (a kernel module), secure_boot yes|no, cloud, nvswitch yes|no.
#pragma once

#include <string>

namespace gpuvet {

struct KnownFact {
  std::string name;
  std::string value; // without units where the name has one
  std::string where; // "line 12", "/proc/driver/nvidia/version"
};

} // namespace gpuvet
