// Which functions of CUDA libraries an ELF file calls and which it offers, from its dynamic symbol
// table: enough to see that a library is older than what calls it.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/machine/loader.hpp"

#include <string_view>

namespace gpuvet {

// "cudaMalloc", "cuInit", "cudnnCreate", "ncclAllReduce", "__nvJitLinkComplete_12_4".
bool is_gpu_symbol(std::string_view name);

// The whole file. Errors: not an ELF file, no section table, no dynamic symbols.
Result<GpuSymbols> parse_gpu_symbols(Bytes file);

// Does the file import this function? Only names of imports are looked at. Errors as above.
Result<bool> imports(Bytes file, std::string_view name);

} // namespace gpuvet
