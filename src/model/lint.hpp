// What a linter found in one file: the place, why it is wrong, and where there is one right answer,
// the text to put there.
#pragma once

#include "model/build_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class LintLevel : uint8_t { note, warning, error };

struct Replacement {
  size_t begin = 0, end = 0; // bytes of the file
  std::string text;
};

struct LintFinding {
  std::string rule; // id
  LintLevel level = LintLevel::note;
  FilePlace at;
  std::string name, value; // of the setting
  std::string message;     // one line
  std::string label;       // a few words, shown under the place
  std::string why, help;
  std::optional<Replacement> fix;
};

struct LintedFile {
  std::string path; // as shown; "command line" for values
  std::string text; // for showing its lines
  BuildFileKind kind = BuildFileKind::shell;
  size_t settings = 0;
  std::vector<LintFinding> findings; // by place
};

} // namespace gpuvet
