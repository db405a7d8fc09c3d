// Where text may stand in a file.
#pragma once

#include "base/bytes.hpp"

#include <cstdint>
#include <vector>

namespace gpuvet {

struct FilePart {
  uint64_t offset = 0, size = 0; // bytes
};

// The parts of a file without the machine code of an ELF file, in order: most of a compiler is
// code, and what it says of itself is not in there. Of any other file, the whole.
std::vector<FilePart> parts_with_text(Bytes file);

} // namespace gpuvet
