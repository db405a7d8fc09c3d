// The state of one forward pass over one object file: inspect.cpp drives it, finish_elf.cpp and
// pe.cpp attribute what was found to sections and wrappers afterwards.
#pragma once

#include "formats/gpu/fatbin.hpp"
#include "formats/gpu/inspect.hpp"
#include "formats/object/elf.hpp"

#include <vector>

namespace gpuvet {

// __fatBinC_Wrapper_t: through it the CUDA runtime finds a container.
struct WrapperRecord {
  uint64_t offset = 0;  // in the object
  uint32_t version = 1; // 2: result of device linking
  uint64_t address = 0; // of the container; 0 when only a relocation knows it
};

// Bytes kept from a stream, in case they are wanted once the section table at the end is known.
struct KeptPiece {
  uint64_t from = 0; // in the object
  std::vector<uint8_t> bytes;
};

struct ScanState {
  ForwardReader& reader;
  Binary& binary;
  const InspectOptions& options;
  std::string member; // of a static archive
  std::optional<ElfHeader> elf;
  std::vector<uint8_t> head; // first bytes of the object
  std::vector<WrapperRecord> wrappers;
  std::vector<Container> found;
  int toolkit_tries = 0;
  // Binary::toolkit was read from a bare cubin, which may have been built elsewhere and long
  // before: a cubin of a container counts more.
  bool toolkit_of_bare = false;
  uint64_t window_at = 0;                  // where the bytes begin that a stream can still show
  std::vector<KeptPiece> name_pieces = {}; // around each ".shstrtab" of a stream, the latest last
};

// Reads the object from `from` to `to` (or to its end): containers, bare images, wrappers, names of
// run-time compilers.
void scan_range(ScanState& state, uint64_t from, uint64_t to);

// Names of the kernels that the options ask for, once roles are known.
void read_chosen_kernels(ScanState& state);

// Names sections, roles and damage of state.found by the ELF tables; drops chance finds.
void attribute_elf(ScanState& state);

// The same for a Windows executable or DLL.
void attribute_pe(ScanState& state);

} // namespace gpuvet
