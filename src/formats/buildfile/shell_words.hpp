// A shell script to its commands and their words, as sh and bash read it; nothing is run or
// expanded. A reference to a variable stays in a word's text as it is written; where quotes make it
// plain text, its '$' is kPlainDollar instead.
#pragma once

#include "formats/buildfile/mapped_text.hpp"

namespace gpuvet {

constexpr char kPlainDollar = '\x01';

struct ShellWord {
  std::string text;          // without quotes
  std::vector<size_t> at;    // index in the script of each byte of `text`
  size_t begin = 0, end = 0; // in the script, quotes included
  bool quoted = false;       // some part is in quotes
  bool starts_quoted = false;
};

struct ShellCommand {
  std::vector<ShellWord> words; // targets of redirections are left out
  std::string end;              // what ended it: ";", "&&", "|", "\n"; ")" and so on
  size_t end_at = 0;            // of that
  bool to_file = false;         // its output goes into a file
};

enum class ShellDialect : uint8_t {
  script,
  log,   // a line that was printed: '#' begins no comment, there are no here-documents
  words, // a value that a program splits at blanks: ';' and '|' are letters
};

// Here-documents are left out: they are some other file's text.
std::vector<ShellCommand> shell_commands(const MappedText& script, ShellDialect dialect);

} // namespace gpuvet
