// Reads the log of a build for the GPU targets of its compiler commands: nvcc (-gencode, -arch, the
// cicc, ptxas and fatbinary lines of a verbose run), clang, and what CMake, ninja, Bazel and
// PyTorch print about them. A stream of any length in bounded memory.
#pragma once

#include "model/build_log.hpp"

#include <string>
#include <string_view>

namespace gpuvet {

class BuildLogReader {
 public:
  void feed(std::string_view bytes); // pieces of any size
  BuildLog finish();

 private:
  void take(std::string_view raw);

  BuildLog log_;
  std::string rest_; // a line whose end was not fed yet
  bool skipping_ = false;
};

} // namespace gpuvet
