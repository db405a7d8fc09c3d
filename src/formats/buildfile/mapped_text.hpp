// Text that was taken out of a file, with the place that each byte came from: a block of YAML
// without its indentation, a RUN line of a Dockerfile without its continuation marks.
#pragma once

#include "model/build_file.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct MappedText {
  std::string text;
  std::vector<uint32_t> from; // file offset of each byte

  void add(std::string_view piece, size_t offset); // bytes that follow each other in the file
  size_t offset(size_t index) const;               // of the end too
  MappedText part(size_t begin, size_t end) const;
};

MappedText mapped(std::string_view text); // the file itself, from its start

// Lines and columns of offsets.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  FilePlace place(size_t begin, size_t end) const;

 private:
  std::string_view text_;
  std::vector<size_t> starts_;
};

} // namespace gpuvet
