// The parts of probe_kernel; each fills what it is named for.
#pragma once

#include "probe/source.hpp"

#include <string>
#include <vector>

namespace gpuvet::kernel {

void probe_pci(const Source& source, KernelSide& side);
void probe_modules(const Source& source, KernelSide& side); // loaded ones
void probe_module_files(const Source& source, const SystemFacts& system, KernelSide& side);
void probe_nodes(const Source& source, KernelSide& side);       // /proc/devices first
void probe_proc_nvidia(const Source& source, KernelSide& side); // /proc/driver/nvidia
void probe_dkms(const Source& source, KernelSide& side);
void probe_boot(const Source& source, KernelSide& side);     // how the kernel was started
void probe_settings(const Source& source, KernelSide& side); // modprobe.d, modules-load.d
void probe_log(const Source& source, KernelSide& side);

// Lines of the kernel log that tell an Xid or SXid, one event per GPU, code and wording.
std::vector<XidEvent> xids_of(const std::vector<LogLine>& log);

// "nvidia", "nvidia_uvm", "nouveau", "vfio_pci", "ib_core", ...: modules worth telling about.
bool is_relevant_module(const std::string& name);

// "gcc 13.2.0" or "clang 14.0.6" of the text of /proc/version; empty: neither is named.
std::string compiler_of(const std::string& proc_version);

} // namespace gpuvet::kernel
