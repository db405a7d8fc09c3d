// What the dynamic loader reads of an ELF file before it maps it: the dynamic section, the
// interpreter, and the versions that it needs and defines. Source: System V ABI, gABI chapter 5;
// symbol versions: LSB Core, "Symbol Versioning".
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/machine/loader.hpp"

namespace gpuvet {

// The whole file. A file without a dynamic section is no error: has_dynamic tells. Errors: not an
// ELF file of a platform that CUDA runs on, or a dynamic section that points outside the file.
Result<ElfFacts> parse_elf_facts(Bytes file);

} // namespace gpuvet
