// What a shell needs to know about the command line in order to complete it, and the three dialects
// in which it is told. The description comes from the real parser (completion.cpp), so a new option
// completes without anybody writing it down twice.
#pragma once

#include <string>
#include <vector>

namespace gpuvet {

// What may stand where a value is expected. Free text completes to nothing: offering file names for
// a GPU would be worse than silence.
struct ValueHint {
  enum class Kind { none, text, files, directories, choices } kind = Kind::none;
  std::vector<std::string> choices;
};

struct OptionHint {
  std::vector<std::string> names; // with their dashes
  std::string help;
  ValueHint value; // none for a flag
};

// One place on the command line: behind "gpuvet", behind "gpuvet scan".
struct Level {
  std::string path; // the words that lead here, with single spaces between
  std::string help;
  std::vector<OptionHint> options; // those of the levels above included
  ValueHint positional;
};

// The first level is the program itself.
std::string bash_completion(const std::vector<Level>& levels);
std::string zsh_completion(const std::vector<Level>& levels);
std::string fish_completion(const std::vector<Level>& levels);

} // namespace gpuvet
