// Where a Python interpreter finds its packages, told from the files around it. The interpreter is
// never run: it may belong to an image, another machine's disk or an untrusted download, and .pth
// files can run code.
#pragma once

#include "base/result.hpp"
#include "probe/source.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct PythonEnvironment {
  std::string executable;           // as found, links not resolved
  std::string real_executable;      // links resolved
  std::string version;              // "3.12"; empty: not told by any name
  std::string prefix;               // of the environment
  std::string kind;                 // "virtual environment", "conda environment", "installation"
  std::vector<std::string> folders; // that hold packages, in search order
  std::vector<std::string> notes;   // what could not be followed
};

// What of the caller's environment counts. PYTHONPATH does not: the caller names such folders.
struct PythonSearch {
  std::string path; // $PATH, for an interpreter named without a folder
  std::string home; // $HOME, for packages installed with --user; empty: those do not count
};

Result<PythonEnvironment> find_python(const Source& source, const std::string& executable,
                                      const PythonSearch& search);

} // namespace gpuvet
