// The words behind `gpuvet run` are another program's: options, "--" and names of subcommands among
// them mean nothing here. They are marked before the command line is parsed, so that the parser
// takes them as plain words, and unmarked when they are used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

constexpr char kForeignMark = '\x01';

// The arguments without the program's name; those of a command to run marked.
std::vector<std::string> with_foreign_words(int argc, const char* const* argv);

std::string plain_word(std::string_view word); // without the mark

} // namespace gpuvet
