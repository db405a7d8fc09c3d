// What the dynamic loader would do: from a name to a file, by which rule, and what that file wants
// in turn. The emulation follows glibc's ld.so (ld.so(8), elf/dl-load.c).
#pragma once

#include "base/observed.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

// One versioned need or provision: "GLIBC_2.28" of libc.so.6.
struct SymbolVersion {
  std::string file, name;
};

// The dynamic section of one ELF file, and little else.
struct ElfFacts {
  uint8_t bits = 64;        // 32 or 64
  uint16_t machine = 0;     // EM_X86_64 62, EM_AARCH64 183
  bool shared = true;       // ET_DYN
  bool has_dynamic = false; // false: static, or an object file
  std::string interpreter;  // PT_INTERP
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> rpath, runpath; // split at ':', as written
  bool nodeflib = false;                   // DF_1_NODEFLIB
  std::vector<std::string> filters;        // DT_FILTER and DT_AUXILIARY: loaded before this file
  std::vector<SymbolVersion> version_needs;
  std::vector<std::string> version_defs;
  std::string forward_compatibility; // text of note .note.cuda.fwd_compatibility; empty: none
  uint64_t size = 0;                 // of the file, bytes
  // Of a file that needs libcudart: does it import cudaGetDriverEntryPoint, which asks the driver
  // for functions of the runtime's own version? nullopt: it needs no libcudart, or its symbols
  // weren't read.
  std::optional<bool> unversioned_entry;
};

enum class FoundBy : uint8_t {
  path,           // the name has a slash
  already_loaded, // a library with this soname is loaded
  preload,
  rpath, // of `by`
  ld_library_path,
  runpath,
  cache,          // /etc/ld.so.cache
  default_folder, // /lib, /usr/lib, ...
  dlopen,         // asked for by name at run time
  mapped,         // a running process has it
  not_found,
};

struct Candidate { // a place that was looked at
  std::string path;
  FoundBy rule = FoundBy::not_found;
  std::string why_not; // empty: taken
};

struct LoadEdge {
  std::string name; // as needed: "libcudart.so.12"
  FoundBy rule = FoundBy::not_found;
  std::string by;                     // the rule in full: "runpath $ORIGIN/../lib of /x/liba.so"
  std::string path;                   // as found; empty: not found
  std::string real_path;              // links resolved
  size_t node = SIZE_MAX;             // in LoadTree::nodes
  std::vector<Candidate> tried;       // in order; only for what is missing or shadowed
  std::vector<std::string> elsewhere; // of what is missing: files of that name off the search path
  bool at_run_time = false;           // asked for by dlopen; to be missing need not be fatal
};

// Dynamic symbols of one file that belong to CUDA libraries (cuda..., cudnn..., nccl..., ...).
struct GpuSymbols {
  std::vector<std::string> imports, exports; // sorted; weak imports left out
};

struct LoadNode {
  std::string path, real_path; // as opened; with links resolved
  std::string soname;
  uint64_t inode = 0, device = 0;
  Observed<ElfFacts> elf;
  Observed<GpuSymbols> symbols;
  std::vector<std::string> lost_run_paths; // folders of its run path that are not there
  std::vector<LoadEdge> needs;
};

// nodes[0] is the program: what was asked for, or a program without run paths (its path is empty)
// that opens what was asked for by name.
struct LoadTree {
  std::vector<LoadNode> nodes; // in the order of loading; each file once
  std::vector<std::string> missing;
  std::vector<std::string> notes; // what could not be followed
};

// A CUDA library as programs without a run path get it.
struct ResolvedSoname {
  std::string soname; // "libcudart.so.12"
  LoadEdge found;
  std::vector<std::string> shadowed; // other files of that name, in the order the loader knows them
};

// A version of symbols that a library wants and that the library found for it here does not have:
// "GLIBCXX_3.4.30" of libstdc++.so.6.
struct VersionGap {
  std::string wanted_by;        // file, "/venv/lib/.../_C.so"
  std::string library, version; // "libstdc++.so.6", "GLIBCXX_3.4.30"
  std::string provider;         // the file that the loader finds
  std::string has;              // the highest that it has of this kind, "GLIBCXX_3.4.28"
};

struct LoaderState {
  Observed<std::vector<std::string>> cache_sonames; // in ld.so.cache
  std::optional<int64_t> cache_time;                // mtime
  struct Folder {
    std::string path, file; // "/usr/local/cuda/lib64" from "/etc/ld.so.conf.d/cuda.conf:1"
    bool exists = false;
    std::optional<int64_t> conf_time, changed; // mtime of the file and of the folder
  };
  std::vector<Folder> conf_folders;
  struct PathElement {
    std::string text;
    bool exists = false, relative = false, empty = false, duplicate = false, tilde = false,
         stubs = false;
  };
  std::vector<PathElement> library_path; // LD_LIBRARY_PATH
  std::vector<std::string> preload;      // LD_PRELOAD and /etc/ld.so.preload
  std::vector<std::string> preload_missing;
  std::vector<ResolvedSoname>
      sonames; // libcuda.so.1, libnvidia-ml.so.1, libcudart, cublas, cudnn, nccl, ...
  std::vector<VersionGap> version_gaps; // of packages' extension modules and CUDA libraries (some)
};

} // namespace gpuvet
