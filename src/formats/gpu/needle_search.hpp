// One pass over every byte of a file for the things that can hide outside its CUDA sections. Most
// bytes match nothing, so a vectorised two-byte test comes first (several GB/s) and only its hits
// are compared in full.
#pragma once

#include "base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuvet {

enum class Needle : uint8_t {
  container, // fat binary container: 50 ed 55 ba
  wrapper,   // __fatBinC_Wrapper_t: b1 43 62 46, version 1 or 2
  elf,       // 7f 45 4c 46: a bare cubin, perhaps
  ptx_text,  // ".version " and a digit
  offload,   // clang's offload bundle: 10 ff 10 ad
  nvrtc,     // names that only a program which compiles GPU code at run time contains
  nvjitlink,
  nvvm,
  ptx_compiler,
  nvptx_llvm,
  section_names, // ".shstrtab": an ELF file's table of section names, which names itself
};

struct NeedleHit {
  size_t offset = 0; // in the window
  Needle needle{};
};

// Bytes that must follow a hit's offset inside the window for it to be recognised; the caller lets
// windows overlap by this much.
constexpr size_t kNeedleReach = 32;

// The first needle that starts at or after `from`; false when none starts before
// window.size() - kNeedleReach (`last` = true: before window.size()).
bool find_needle(Bytes window, size_t from, bool last, NeedleHit& hit);

} // namespace gpuvet
