// A cubin is an ELF file of machine 190 with SASS for one target. Two layouts exist: the old one
// (CUDA 12 and older, capability 9.0 and lower) and the new one (from 12.7 for sm_100 and newer,
// from 13.0 for every target); they differ in where target and toolkit are written.
#pragma once

#include "base/bytes.hpp"
#include "base/compute_capability.hpp"
#include "base/version.hpp"
#include "formats/gpu/decompress.hpp"
#include "model/binary.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct CubinHeader {
  Target target;
  bool new_layout = false;
  bool relocatable = false;       // ET_REL
  std::optional<Version> toolkit; // the old layout writes it into e_version
  uint64_t extent = 0;            // bytes, by its tables
};

// From the first 64 bytes. nullopt: not a cubin. The suffix of the new layout is not in the header:
// see complete_target.
std::optional<CubinHeader> parse_cubin_header(Bytes start);

// Suffix and toolkit as the notes of a whole cubin tell them (.nv.compat, .note.nv.tkinfo).
void complete_from_notes(CubinHeader& header, Bytes cubin);

// Names of the kernels in a cubin, mangled, in the order of the file. `read` gives up to n bytes of
// the stored payload. ptxas and nvlink put the section names first, so a few per cent of the bytes
// usually tell; otherwise the whole image is decompressed and its symbols are read.
Result<std::vector<std::string>> cubin_kernels(const Image& image,
                                               const std::function<Result<Bytes>(size_t)>& read);

// Kernel names of PTX text: its .entry directives.
std::vector<std::string> ptx_kernels(std::string_view text);

} // namespace gpuvet
