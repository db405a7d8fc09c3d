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
//
// Also: driver.module, driver.library (versions of the kernel module and of the libraries, where
// they are told apart), driver.module_file (on disk), nvml.error 18, xid 79, torch.cuda_available
// yes|no, cuda.said 12.1 ("CUDA 12.1": of the toolkit, driver or framework), image.cuda (of a
// container's image), toolkit.path, NAME.torch, NAME.cuda, NAME.cxx11_abi, NAME.python, NAME.wheel
// (what a wheel or build of a package was made for), tensorflow.cudnn (compiled with), gpu.pci_id
// 10de:2684, gpu.kernel_driver, gpu.compute_mode, gpu.virtualization, gpu.mig yes|no,
// gpu.mig_profile, gpu.mig_memory_bytes, gpu.link NV12|SYS|..., gpu.process "PID NAME BYTES",
// architecture, dkms.nvidia "VERSION KERNEL STATE", jetson.release, cloud.type, ram.bytes,
// os.package.NAME, library.SONAME (a path or "not found"), node.PATH "MODE USER GROUP MAJOR:MINOR",
// docker.version, docker.nvidia_runtime yes|no, docker.default_runtime, docker.cgroup_driver,
// docker.cgroup_version, docker.snap yes, container_toolkit.version.
#pragma once

#include <string>

namespace gpuvet {

struct KnownFact {
  std::string name;
  std::string value; // without units where the name has one
  std::string where; // "line 12", "/proc/driver/nvidia/version"
};

} // namespace gpuvet
