// The functions of all checks, one file per subject. Adding a check: its row in
// facts/checks/AREA.toml, its function and {id, function} in the subject's list. The test
// checks_test.cpp requires that rows and functions match.
#pragma once

#include "judge/doctor/check.hpp"

#include <vector>

namespace gpuvet {

using CheckList = std::vector<CheckCode>;

CheckList driver_checks();         // driver.cpp: modules, versions, flavour, packages of the driver
CheckList device_checks();         // devices.cpp: /dev/nvidia*, permissions, numbering
CheckList hardware_checks();       // hardware.cpp: PCI, links, memory, clocks, power
CheckList fabric_checks();         // fabric.cpp: NVSwitch, NVLink, fabric manager
CheckList cuda_checks();           // cuda/devices.cpp: what CUDA shows, MIG, compute mode
CheckList cuda_version_checks();   // cuda/versions.cpp: driver against runtimes, compat, JIT
CheckList mps_checks();            // cuda/mps.cpp: the multi-process service
CheckList loader_checks();         // loader/driver_libraries.cpp: libcuda and NVML
CheckList loader_setting_checks(); // loader/settings.cpp: LD_LIBRARY_PATH, ld.so.conf, LD_PRELOAD
CheckList library_checks();        // libraries/copies.cpp: NCCL, cuBLAS and their mixtures
CheckList cudnn_checks();          // libraries/cudnn.cpp: cuDNN
CheckList toolkit_checks();        // software/toolkits.cpp: installed toolkits, nvcc
CheckList compiler_checks();       // software/compilers.cpp: what a build takes
CheckList repository_checks();     // software/repositories.cpp: packages and where they come from
CheckList python_checks();         // software/python.cpp: frameworks against this machine
CheckList python_pair_checks();    // software/python_pairs.cpp: packages against each other
CheckList code_checks();           // software/code.cpp: GPU code of packages against GPU and driver
CheckList environment_checks();    // environment/cuda_variables.cpp: and start-up files
CheckList passed_on_checks();      // environment/passed_on.cpp: sudo, services
CheckList framework_variable_checks(); // environment/framework_variables.cpp
CheckList container_checks();          // container/given.cpp: what a container was given
CheckList container_image_checks();    // container/inside.cpp: its image, its limits
CheckList container_host_checks();     // container/host.cpp: runtimes and their configuration
CheckList cdi_checks();                // container/cdi.cpp: CDI specifications
CheckList cluster_checks();            // cluster.cpp: Kubernetes, Slurm
CheckList platform_checks();           // platform.cpp: WSL, Jetson
CheckList cloud_checks();              // clouds.cpp: instance types, virtual GPUs
CheckList network_checks();            // network/network.cpp: NCCL's network, InfiniBand, GPUDirect
CheckList peer_traffic_checks();       // network/peer_traffic.cpp: PCI between GPUs, limits
CheckList process_checks();            // processes.cpp: programs on the GPU, monitoring

// All of them.
const std::vector<CheckCode>& check_functions();

} // namespace gpuvet
