// What a library's GPU code was built for, and nothing else: walks the CUDA sections from header to
// header and looks at a few hundred bytes of each image. inspect() tells all, and is asked where
// this walk meets anything that is out of the ordinary.
#pragma once

#include "formats/byte_stream.hpp"
#include "model/binary.hpp"

#include <optional>
#include <set>
#include <utility>

namespace gpuvet {

struct GpuTargets {
  std::set<Target> sass, ptx;
  std::optional<std::pair<uint32_t, uint32_t>> ptx_isa; // the highest

  void add(const Image& image);
};

// nullopt: no ELF file for a CPU, no section table, or CUDA sections that hold more than whole
// containers. The stream must be one that is read at random.
std::optional<GpuTargets> walk_targets(ByteStream& stream);

} // namespace gpuvet
