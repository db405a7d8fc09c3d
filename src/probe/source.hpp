// Everything that a probe may ask of a machine. Probes see only this, so each of them runs on the
// live machine, on an unpacked image or mounted disk (`--root`), and on a recording.
//
// A live source touches the machine; an image source reads a tree and knows nothing that only a
// running system can tell; a replay answers from a recording; a Recorder (recorder.hpp) stands
// before another source and keeps each answer. What a source cannot tell is an error or an unknown
// with the reason: never a default.
#pragma once

#include "base/observed.hpp"
#include "base/result.hpp"
#include "model/machine.hpp"
#include "model/recording.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpuvet {

enum class EntryKind : uint8_t { regular, folder, link, character, block, other };

struct Entry { // of the file system
  EntryKind kind = EntryKind::other;
  uint64_t size = 0; // bytes
  uint32_t mode = 0; // permission bits with setuid
  uint64_t uid = 0, gid = 0;
  uint64_t device = 0, inode = 0;
  uint32_t major = 0, minor = 0; // of a device node
  int64_t changed = 0;           // mtime, seconds since 1970
};

struct Space {                  // of the file system that holds a path
  uint64_t total = 0, free = 0; // bytes
  bool read_only = false, no_exec = false;
};

struct CommandAnswer {
  int status = 0; // exit status
  bool timed_out = false;
  std::string output; // standard output
  std::string errors; // standard error
};

// Errors name the path in `where` and say why in `what`; is_missing() tells absence from inability.
struct Source {
  Seen kind = Seen::live;

  // A whole file of at most `most` bytes; also files of /proc and /sys, which tell no size.
  std::function<Result<std::string>(const std::string& path, size_t most)> read_file;
  // Names in a folder, sorted.
  std::function<Result<std::vector<std::string>>(const std::string& path)> list;
  // Does not follow a link at the end of the path.
  std::function<Result<Entry>(const std::string& path)> entry;
  std::function<Result<std::string>(const std::string& path)> link_target;
  // The path with every link resolved, below the source's root.
  std::function<Result<std::string>(const std::string& path)> real_path;
  // errno of opening a device node read-write; 0: it opened.
  std::function<Observed<int>(const std::string& path)> open_node;
  // errno of access(2) read-write; 0: allowed. Asks permission bits and device cgroup without
  // opening: opening a GPU's own node would wake the GPU, and can hang on a lost one.
  std::function<Observed<int>(const std::string& path)> access_node;
  std::function<Result<Space>(const std::string& path)> space;
  // The dynamic section of an ELF file.
  std::function<Result<ElfFacts>(const std::string& path)> elf;
  // What an ELF file calls and offers of CUDA's functions; an empty function where that cannot be
  // told.
  std::function<Result<GpuSymbols>(const std::string& path)> gpu_symbols;
  // What GPU code a library holds: its targets, as scan reads them from CUDA's own sections.
  std::function<Result<PackageCode>(const std::string& path)> gpu_code;
  // What a kernel module file (.ko, .ko.xz, .ko.zst, .ko.gz) says of itself.
  std::function<Result<ModuleInfo>(const std::string& path)> module_info;
  // The first place in a file, outside of a program's machine code, where `word` stands, and the
  // printable text after it (64 bytes at most): version strings of libraries and compilers.
  std::function<Result<std::string>(const std::string& path, const std::string& word)> text_after;

  // Variables of this process.
  std::function<std::map<std::string, std::string>()> environment;
  std::function<SystemFacts()> system;
  std::function<KernelLog()> kernel_log;
  std::function<Observed<std::vector<GpuProcess>>()> processes;
  std::function<NvmlAnswers()> nvml;
  std::function<CudaAnswers()> cuda;
  // Runs a program of the system (by absolute path) with a deadline; nothing it needs is changed.
  std::function<Result<CommandAnswer>(const std::vector<std::string>& command, double deadline_s)>
      run;
};

// Error::what of a path that is not there; anything else is "could not be looked at".
extern const std::string kMissing; // "no such file or folder"
bool is_missing(const Error& error);

// --- small helpers over a source -------------------------------------------------------------

bool exists(const Source& source,
            const std::string& path); // a link counts when its target is there
bool is_folder(const Source& source, const std::string& path);

// First line without line feed and blanks at its end; empty when the file cannot be read.
std::string first_line(const Source& source, const std::string& path);

// Lines of a small text file (4 MiB at most); empty when it cannot be read.
std::vector<std::string> lines(const Source& source, const std::string& path);

// Paths in `folder` whose name matches the shell pattern ('*', '?', '[..]'); sorted.
std::vector<std::string> matching(const Source& source, const std::string& folder,
                                  const std::string& pattern);

// --- kinds -----------------------------------------------------------------------------------

// What is asked through libraries of NVIDIA, given by the caller: probe/ does not load them.
struct LibraryQuestions {
  std::function<NvmlAnswers()> nvml;
  std::function<CudaAnswers()> cuda;
};

Source live_source(LibraryQuestions questions);

// `root`: an unpacked image, a mounted disk. Links are followed inside it, as chroot would.
Source image_source(const std::string& root);

// Answers from a recording. What was never asked when it was made is an error that says so.
Source replay_source(std::shared_ptr<const Recording> recording);

} // namespace gpuvet
