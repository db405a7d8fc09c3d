// One file in, its GPU code out. inspect() recognises the kind of file by content, walks every fat
// binary container in it, in CUDA's own sections and anywhere else, and says where each was found
// and how a program reaches it. It reads forward once, so files inside archives cost no unpacking.
#pragma once

#include "formats/byte_stream.hpp"
#include "model/binary.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuvet {

enum class KernelNames {
  none,
  chosen, // of the containers that the two functions below ask for
  all,    // of every image
};

struct InspectOptions {
  KernelNames kernels = KernelNames::none;
  // Asked when everything else is known: indices of the containers whose kernels matter.
  std::function<std::vector<size_t>(const std::vector<Container>&)> choose_for_kernels;
  // Asked instead, container by container, where a file can be read only once.
  std::function<bool(const Container&)> wants_kernels;
  // Walk only the CUDA sections of an ELF file and skip the search of all other bytes. Takes effect
  // on files that are read at random (not on members of archives).
  bool sections_only = false;
};

// Never fails as a whole: what cannot be read stands in Binary::problems with its offset.
Binary inspect(ByteStream& stream, std::string path, const InspectOptions& options);

// Could this file hold GPU code, judged by its first bytes (64 suffice)?
bool worth_inspecting(Bytes start);

} // namespace gpuvet
