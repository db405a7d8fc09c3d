// What gpuvet ldd was asked about and what the loader does with it, before it is judged.
#pragma once

#include "base/result.hpp"
#include "model/machine/loader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class AskedKind : uint8_t { file, soname, process, package };

struct LddSubject {  // one process
  std::string asked; // as a person named it: a path, "libcudart.so.12", "torch 2.6.0+cu124"
  AskedKind kind = AskedKind::file;
  LoadTree tree;
  // Of a running process, whose tree holds what it has mapped: what the loader would choose now.
  std::optional<LoadTree> now;
  std::vector<std::string> deleted; // mapped files that are no longer under their path
};

struct LddResult {
  std::vector<LddSubject> subjects;
  std::vector<Error> errors; // what could not be read
  std::vector<std::string> notes;
};

} // namespace gpuvet
