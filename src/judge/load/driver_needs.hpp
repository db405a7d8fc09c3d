// Drivers against GPUs, toolkits and PTX: who refuses whom, and which driver would do.
#pragma once

#include "judge/load/coverage.hpp"

namespace gpuvet {

// Would programs that the file's toolkit built start on this driver? No reason when yes or not
// known. CUDA 11 and newer: any driver of the same major or newer (minor-version compatibility),
// from a floor on; older: the toolkit's own driver or newer.
Refusal toolkit_refuses(const Binary& binary, const LoadDriver& driver, const LoadRules& rules);

// Why a driver does not run programs that were built for a CUDA version; no reason: it does. Where
// only the driver's CUDA version is known, that is judged.
Refusal cuda_refuses(const LoadRules& rules, const LoadDriver& driver, const Version& cuda);

// The last driver branch that knows the GPU; nothing: it is supported still.
std::optional<uint32_t> last_driver_branch(const Gpu& gpu, const LoadRules& rules);

// Fills needs_driver: the least driver that knows the GPU, runs the toolkit's programs and compiles
// the PTX that has to be compiled.
void add_driver_needs(FileVerdict& verdict, const Binary& binary, const LoadDevice& device,
                      const LoadRules& rules);

} // namespace gpuvet
