// What a file contains for the GPU.
//
// An *image* is one piece of device code: a cubin (SASS, machine code for one sm_XY), PTX text that
// the driver compiles, or LTO IR. Images of one translation unit sit together in a *container* (a
// "fatbin"); the driver chooses one image of a container, and a container without a fitting image
// fails when its first kernel is launched. So a file is judged container by container, never as a
// whole. A bare cubin or PTX text that a program loads by itself is a container with one image.
#pragma once

#include "base/compute_capability.hpp"
#include "base/observed.hpp"
#include "base/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

// Values of the entry header's kind field; others exist and are carried as their number.
enum class ImageKind : uint16_t {
  ptx = 0x01,
  cubin = 0x02,
  text_cubin = 0x04, // CUDA 2 and older
  lto_ir = 0x08,
  index = 0x20,
  relocatable_ptx = 0x40,
};

enum class Compression : uint8_t { none, zlib, lz4_block, lz4_frame, zstd };

// Why the driver would refuse an image that it selected. Found only where the payload was read.
enum class Damage : uint8_t { none, payload, ptx_text };

struct Image {
  ImageKind kind{};
  Target target;             // from the entry header: the driver selects by it
  uint64_t offset = 0;       // of the entry header, from the file's (or archive member's) start
  uint32_t header_size = 0;  // bytes; the payload follows
  uint64_t payload_size = 0; // bytes stored, padding included
  uint64_t stored_size = 0;  // bytes stored, padding excluded where known
  uint64_t raw_size = 0;     // bytes after decompression; 0 where not known
  uint64_t flags = 0;
  uint16_t entry_version = 0x0101;
  uint16_t version_major = 0; // PTX ISA for PTX; format version otherwise
  uint16_t version_minor = 0;
  Compression compression = Compression::none;
  Damage damage = Damage::none;
  uint32_t payload_sm = 0;  // target that an uncompressed cubin itself names; 0 = not read
  bool relocatable = false; // an uncompressed cubin that still has to be linked (ET_REL)
  std::string name;         // source file or module id, where the build recorded one

  bool debug() const { return flags & 0x2; }
  bool obfuscated() const { return flags & 0x10000; }
};

// How the CUDA runtime or the program reaches a container.
enum class Role : uint8_t {
  registered,   // .nv_fatbin: loaded by the runtime
  linked,       // .nv_fatbin behind a version-2 wrapper: result of device linking
  relocatable,  // __nv_relfatbin: parts that the runtime links when `linked` has no fitting image
  unreferenced, // .nv_fatbin, but no wrapper points to it: the linker dropped its user
  embedded,     // in data: the program loads it by address
  bare,         // a cubin or PTX text without a container around it
};

struct Container {
  uint64_t offset = 0;
  uint64_t size = 0; // bytes, header included
  uint32_t header_size = 16;
  uint16_t version = 1;
  Role role = Role::registered;
  std::string member;  // object inside a static archive, empty elsewhere
  std::string section; // ".nv_fatbin", ".rodata"; empty when the file has no section headers
  std::vector<Image> images;
  std::vector<std::string> kernels; // mangled names, where they were read
  bool kernels_read = false;
  std::string problem; // what is malformed, with the file offset; empty = sound
  bool hangs = false;  // the walk of the driver over it never ends; `problem` says why
};

enum class FileFormat : uint8_t { elf, elf_relocatable, ar, pe, cubin, fatbin, ptx, other };

// Evidence that a file makes GPU code at run time, so that its images are not the whole truth.
struct RuntimeCompiler {
  std::string name;     // "NVRTC", "nvJitLink"
  std::string evidence; // "names libnvrtc.so.12 at offset 0x1234"
};

struct Binary {
  std::string path; // as shown: outer!inner for archives
  uint64_t size = 0;
  FileFormat format = FileFormat::other;
  std::vector<Container> containers;
  std::vector<RuntimeCompiler> runtime_compilers;
  Observed<Version> toolkit;         // that compiled the GPU code
  std::vector<std::string> notes;    // e.g. "GPU code for AMD (.hip_fatbin): not CUDA"
  std::vector<std::string> problems; // damaged parts, each with its offset
};

} // namespace gpuvet
