// From what the user names (files, folders, environments) to what is scanned.
//
// First everything is *found*: folders are walked and the directories of zip archives read, which
// gives a list of independent jobs in a fixed order. Then the caller runs the jobs, on as many
// threads as it likes; each hands its leaves to a LeafSink. A large zip is one job per member, so
// that a wheel keeps all cores busy.
//
// What is found: a file named by the user always, and unpacked by its content. In a folder, files
// that may hold GPU code by their first bytes, and packages by their name (file_kind.hpp). Each
// file once, however many names it has. Links inside a folder are not followed; links that lead out
// of it to something are counted in a note, never dropped in silence. FIFOs, sockets and devices
// are never opened.
#pragma once

#include "base/result.hpp"
#include "formats/unpack.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpuvet {

struct InputJob {
  std::string path;                         // shown
  uint64_t size = 0;                        // bytes to read, expanded where known
  std::function<void(const LeafSink&)> run; // callable from any thread, once
};

struct Inputs {
  std::vector<InputJob> jobs;     // in display order
  std::vector<Error> errors;      // what could not be read; the rest was found all the same
  std::vector<std::string> notes; // what was left out by design
};

Inputs find_inputs(const std::vector<std::string>& paths);

// Everything that process `pid` has mapped now, read through the process's own view of its files,
// so that containers and replaced files are covered. `proc` is where procfs is mounted.
Inputs find_process_inputs(uint64_t pid, const std::string& proc = "/proc");

// The packages of a Python interpreter, which is not run (python_env.hpp).
Inputs find_python_inputs(const std::string& executable);

// Indices of `jobs`, largest first: the order to start them in.
std::vector<size_t> largest_first(const std::vector<InputJob>& jobs);

} // namespace gpuvet
