// How machine facts look in texts that people paste: one row per way of printing them. A row is a
// pattern with named groups and the facts that it gives; some lines only mean something inside a
// section, such as the rows below the header of `pip list`.
#pragma once

#include "facts/rows.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuvet {

// Lines that belong together: from the one that matches `begins` to the one that matches `ends`, to
// an empty line where `blank_ends`, or to `lines` lines later.
struct TextSection {
  std::string id;
  std::string begins, ends;          // RE2; `ends` empty: only by the other two
  std::vector<std::string> literals; // one of them is in each first line
  bool blank_ends = true;
  uint32_t lines = 0; // at most
  std::string source;
};

// "driver.version={driver}": a name and a value with groups of the pattern in braces, each with the
// form it is to take: {size|MiB}. A value whose group took no part or is empty gives no fact.
struct TextRow {
  std::string pattern;               // RE2
  std::vector<std::string> literals; // of 4 bytes at least; one of them is in each line that matches
  std::vector<std::string> in;       // sections; empty: anywhere. Inside, literals are not needed
  std::vector<std::string> gives;
  bool said = false; // words of a person, not of a program: counts less
  bool head = false; // its literals are common words: only looked for where reports are pasted
  std::string within; // an open section in which the example stands; for tests
  std::string example;
  std::vector<std::string> expect; // what the example gives: "driver.version=535.104.05"
  std::string source;
};

struct TextTables {
  std::vector<TextSection> sections;
  std::vector<TextRow> rows;
};

void read_texts(FactFile& file, TextTables& tables);

} // namespace gpuvet
