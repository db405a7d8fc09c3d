// A kernel module file: what its .modinfo section says, and whether a signature is appended behind
// the ELF image. Distributions compress module files as a whole, after signing.
// Sources: include/linux/module_signature.h and scripts/sign-file.c of Linux.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/machine/kernel_side.hpp"

#include <string>

namespace gpuvet {

// A compressed file is unpacked when it is small (4 MiB, 64 MiB unpacked); a larger one is an error
// that says so, because unpacking it would take longer than all other questions together.
Result<ModuleInfo> read_module_info(Bytes file, const std::string& path);

} // namespace gpuvet
