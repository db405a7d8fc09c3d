// A recorded machine: every answer that the probes got, so that the same findings follow anywhere.
//
// One JSON document (schema gpuvet-recording/1). Text files are kept as lines, so that a recording
// can be read, reviewed and written by hand; a recording may name another as its base and tell only
// what differs. `gpuvet snapshot` writes it compressed and redacted.
#pragma once

#include "base/observed.hpp"
#include "base/result.hpp"
#include "model/machine.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

// What lies at one path. Folders need no entry: they follow from the paths below them, and
// `folders` names those that are empty or were listed.
struct RecordedFile {
  enum class Kind : uint8_t {
    text,
    binary,
    link,
    node,
    unreadable, // seen, but not readable
    hidden,     // not even its kind could be seen
    missing,    // neither it nor anything below it is there
    present,    // there; its content was not kept
  };
  Kind kind = Kind::text;
  std::string content; // of text and binary; target of a link; why it is unreadable or hidden
  uint32_t mode = 0644;
  uint64_t uid = 0, gid = 0;
  uint64_t size = 0;               // where the content was not kept (`present`)
  int64_t changed = 0;             // mtime, seconds since 1970; 0: not told
  uint32_t major = 0, minor = 0;   // of a node
  std::optional<int> open_error;   // of a node
  std::optional<int> access_error; // of a node that was not opened
};

struct RecordedSpace {
  uint64_t total = 0, free = 0;
  bool read_only = false, no_exec = false;
};

struct RecordedCommand {
  std::vector<std::string> command;
  int status = 0;
  bool timed_out = false;
  std::string output, errors;
  std::string problem; // not empty: it could not be run
};

struct Recording {
  std::string about;                         // one line: what is special
  std::string made_by;                       // "gpuvet 0.1.0"
  std::map<std::string, RecordedFile> files; // by absolute path
  std::vector<std::string> folders;
  // Names seen in a folder of which not each was looked at; those with an entry need not be here.
  std::map<std::string, std::vector<std::string>> listings;
  // What is not told about files was not asked, so it is not known. Otherwise it is not there.
  bool partial = false;
  std::map<std::string, std::string> environment;
  std::optional<SystemFacts> system;
  std::map<std::string, ElfFacts> elf;
  std::map<std::string, PackageCode> gpu_code;
  std::map<std::string, ModuleInfo> module_infos;
  std::map<std::string, std::map<std::string, std::string>> texts; // path -> word -> text after it
  std::map<std::string, RecordedSpace> spaces;
  // Why a question about a path's content had no answer, by question ("elf", "gpu_code", "space").
  std::map<std::string, std::map<std::string, std::string>> errors;
  std::vector<RecordedCommand> commands;
  std::optional<KernelLog> log;
  std::optional<Observed<std::vector<GpuProcess>>> processes;
  std::optional<NvmlAnswers> nvml;
  std::optional<CudaAnswers> cuda;
};

} // namespace gpuvet
