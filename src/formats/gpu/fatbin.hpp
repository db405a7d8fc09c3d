// The CUDA fat binary container, as found in ELF sections, archives and data.
//
//   container  = header (16 bytes: magic, version, header size, size of the rest), then entries
//   entry      = header (64 bytes + extension), then the payload (a cubin, PTX text, LTO IR)
//
// There is no count and no terminator: entries follow each other up to the container's size. Layout
// and flag meanings: NVIDIA's fatbinary.h (2010-2018 public copies) and files built for the purpose
// with CUDA 7 to 13; docs/format.md tells what was verified how.
#pragma once

#include "formats/gpu/forward_reader.hpp"
#include "model/binary.hpp"

#include <functional>

namespace gpuvet {

constexpr uint32_t kContainerMagic = 0xBA55ED50;
constexpr uint32_t kEntryHeader = 0x40; // bytes

namespace entry_flag {
constexpr uint64_t debug = 0x2, zlib = 0x1000, lz4_block = 0x2000, lz4_frame = 0x4000,
                   zstd = 0x8000, obfuscated = 0x10000, arch_specific = 0x100000,
                   family_specific = 0x200000;
}

// Called for each image while its bytes can still be read: `payload` gives up to n bytes of it.
using ImageVisitor =
    std::function<void(Container&, Image&, const std::function<Result<Bytes>(size_t)>& payload)>;

struct ContainerRead {
  Container container;
  uint64_t next = 0;      // where to go on reading
  bool plausible = false; // false: the magic number was there by chance
};

// Reads the container whose magic stands at `at`. Damage ends the walk and is told in
// container.problem; the entries before it are kept. A zero-filled entry is such a damage (the
// driver's own walk never ends there).
ContainerRead read_container(ForwardReader& reader, uint64_t at, const ImageVisitor& visit);

// "kind-0x10" for kinds without a name.
std::string kind_name(ImageKind kind);
std::string compression_name(Compression compression);

// Flag bits whose meaning is not known; 0 when all are.
uint64_t unknown_flags(uint64_t flags);

} // namespace gpuvet
