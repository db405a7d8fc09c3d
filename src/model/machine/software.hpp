// CUDA software on disk: driver libraries, toolkits, CUDA libraries, packages, Python environments,
// and the files that set the environment.
#pragma once

#include "base/compute_capability.hpp"
#include "base/observed.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class Origin : uint8_t {
  unknown,
  distribution,
  nvidia_repository,
  runfile,
  conda,
  pip,
  container_injected,
  compat_package,
  toolkit_stub,
  copied
};

struct Package {
  std::string name, version, status; // "ii", "rc", "iF"; "installed" for rpm
  std::string architecture;
  std::string vendor; // who made it, as the package says: "NVIDIA Corporation <...>"
};

struct Packages {
  Observed<std::vector<Package>> relevant; // names that have to do with NVIDIA, CUDA, cuDNN, NCCL
  struct Repository {
    std::string file, url, signed_by; // "/etc/apt/sources.list.d/cuda.list:1"
  };
  std::vector<Repository> repositories; // that NVIDIA serves
  bool keyring = false;                 // package cuda-keyring
  std::vector<std::string> held;
  struct Change {
    std::string action, package, from, to; // "upgrade", "libcuda1", versions; empty: none
  };
  struct Event {
    std::string date, text;      // "2025-03-04 06:25:10"; one line for a person
    std::string command;         // that did it; empty: not told
    std::vector<Change> changes; // of relevant packages only
  };                             // of the history: one transaction that changed relevant packages
  std::vector<Event> history;    // oldest first
};

struct LibraryFile {
  std::string path, real_path;
  std::string version; // of the file name, else of its content; empty: not known
  std::string owner;   // package; empty: none found
  Origin origin = Origin::unknown;
  uint64_t size = 0;   // bytes
  bool stub = false;   // the toolkit's, for linking only
  bool compat = false; // of cuda-compat
  // What a cuda-compat libcuda says of itself (ElfFacts::forward_compatibility), JSON: the CUDA
  // version that it serves and the branches of kernel modules that it works on.
  std::string forward_compatibility;
  std::optional<bool> readable;
};

struct DriverFiles {
  std::vector<LibraryFile> libcuda, libnvidia_ml, ptxjitcompiler;
  Observed<std::string>
      user_version;             // of the libcuda that the loader picks, stubs and compat apart
  std::string resolved_libcuda; // path with links resolved; empty: none
  std::string resolved_libnvidia_ml;
  bool libcuda_unversioned = false; // libcuda.so can be found too
  bool nvidia_uninstall = false;    // /usr/bin/nvidia-uninstall: a runfile was run
  std::string nvidia_smi;           // path; empty: none
};

struct InstalledToolkit { // an installed CUDA toolkit
  std::string folder, real_folder;
  std::string version; // "12.8.1"; empty: not known
  Origin origin = Origin::unknown;
  std::string owner;
  bool has_nvcc = false, leftover = false;
  std::vector<std::string> files;                 // of a leftover: what is there (some)
  std::string host_config_gcc, host_config_clang; // highest versions that host_config.h allows
  bool has_ptxas = false, has_libdevice = false;  // bin/ptxas, nvvm/libdevice/libdevice.10.bc
};

struct NvccOnPath {
  std::string path, real_path, version, owner;
};

struct SettingLine { // of a start-up file
  std::string file;
  uint32_t line = 0;
  std::string text;
  std::vector<std::string> missing_folders; // named and not there
};

struct Toolkits {
  std::vector<InstalledToolkit> installed;
  std::vector<NvccOnPath> nvcc;    // in the order of PATH
  Observed<std::string> cuda_link; // target of /usr/local/cuda
  bool cuda_link_dangling = false;
  std::map<std::string, std::string> environment; // CUDA_HOME, CUDA_PATH, CUDACXX, NVCC_CCBIN, ...
  std::vector<std::string> environment_missing;   // those of them whose folder or program is absent
  Observed<std::string> gcc, clang;               // versions on PATH
  Observed<std::string> host_compiler;            // "gcc 11": of NVCC_CCBIN or CUDAHOSTCXX, if set
  std::vector<std::string> other_gcc;             // "12", "13": g++-N in /usr/bin
  std::vector<SettingLine> settings;              // CUDA lines of shell start-up files
};

struct CudaLibrary {
  std::string kind; // "cudnn", "cublas", "nccl", "tensorrt", "nvjitlink", "nvrtc", "cudart"
  LibraryFile file;
  std::string part;        // "ops", "cnn_infer"; empty: the main library
  std::string python;      // site-packages folder it lies in; empty: elsewhere
  bool plain_name = false; // found by its name without a version too ("libnvrtc.so")
};

struct CudnnHeader {
  std::string file, version;
};

struct PythonPackage {
  std::string name, version;     // normalised name, version with local tag
  std::string folder;            // site-packages
  std::string build;             // conda build string
  std::string installer;         // "pip", "uv", "conda"; empty: not told
  std::vector<std::string> pins; // "nvidia-cudnn-cu12==9.1.0.70" of Requires-Dist, without extras
  bool conda = false;
};

// GPU code of a package's principal library.
struct PackageCode {
  std::string package, file;
  Observed<std::vector<Target>> sass, ptx;
  std::optional<uint32_t> ptx_isa_major, ptx_isa_minor; // highest in the file
};

struct PythonEnv {
  std::string executable, prefix, kind; // kind: "virtual environment", ...
  std::string why;                      // "active (VIRTUAL_ENV)", "first python3 on PATH", "named"
  std::string python_version;           // "3.12"
  std::vector<std::string> folders;
  Observed<std::vector<PythonPackage>> packages; // those that bear on GPUs
  std::map<std::string, std::string>
      torch; // of torch/version.py: "version", "cuda", "hip"; "cxx11_abi", "folder"
  std::optional<bool> torch_has_cuda;            // libtorch_cuda.so is there
  std::map<std::string, std::string> tensorflow; // of build_info: cuda_version, cudnn_version
  std::map<std::string, std::string> xformers;   // of cpp_lib.json: "torch", "cuda"
  std::string triton_ptxas;                      // version of the bundled ptxas
  std::string triton_ptxas_blackwell;            // of the second one; empty: there is none
  std::vector<PackageCode> code;
  struct Extension {
    std::string package, file;
    std::string abi; // "cxx11", "old"; empty: no such symbol
    std::vector<std::string>
        undefined; // torch symbols that no library of the environment has (some)
    std::vector<std::string> missing_needed; // sonames that resolve nowhere
    std::vector<std::string> elsewhere;      // files of these names off the search path (some)
    std::vector<std::string> lost_run_paths; // folders that its run path names in full, not there
  };
  std::vector<Extension> extensions;
  // Files of its packages that ask the driver for functions of the runtime's own version
  // (ElfFacts::unversioned_entry). nullopt: no file that uses the CUDA runtime was read.
  std::optional<std::vector<std::string>> unversioned_entry;
  std::map<std::string, std::string> settings; // PYTHONPATH, PYTHONNOUSERSITE, CONDA_PREFIX
  struct Import {
    std::string package;
    bool ok = false;
    std::string output;
    double seconds = 0;
  };
  std::vector<Import> imports; // only with --import
};

} // namespace gpuvet
