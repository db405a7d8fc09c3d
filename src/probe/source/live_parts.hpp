// Answers of the live source that take more than a system call. Part of live.
#pragma once

#include "probe/source.hpp"

#include <string>

namespace gpuvet {

Result<CommandAnswer> live_run(const std::vector<std::string>& command, double deadline_s);
KernelLog live_kernel_log();

// `proc` is where procfs is mounted.
Observed<std::vector<GpuProcess>> gpu_processes(const std::string& proc);

} // namespace gpuvet
