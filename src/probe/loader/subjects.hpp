// Load trees of what a person asks about: a file, a name, a running process, a Python environment.
#pragma once

#include "base/result.hpp"
#include "model/machine/loader.hpp"
#include "probe/source.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

// A program or library, by its path; a library is loaded in the place of a program, as ldd does.
Result<LoadTree> tree_of_file(const Source& source, const std::string& path);

// dlopen of a name by a program without run paths: nodes[0] is that program.
LoadTree tree_of_name(const Source& source, const std::string& name);

struct ProcessTrees {
  std::string name; // of the program, "python3.11"
  LoadTree mapped;  // what the process has, by its maps
  LoadTree now;     // what the loader would choose now with the process's own environment
  std::vector<std::string> deleted; // mapped files that were replaced or removed since
};

// Errors: no such process, or its maps cannot be read.
Result<ProcessTrees> trees_of_process(const Source& source, uint64_t pid);

struct PackageTree {
  std::string package; // "torch"
  LoadTree tree;       // nodes[0] is the interpreter
};

// Principal libraries of the GPU packages in `folders`, as an import loads them. `interpreter` is a
// path.
std::vector<PackageTree> trees_of_python(const Source& machine, const std::string& interpreter,
                                         const std::vector<std::string>& folders);

// Adds what the files of a tree call and offer of CUDA's functions, where any of them is a CUDA
// library.
void read_symbols(const Source& source, LoadTree& tree);

} // namespace gpuvet
