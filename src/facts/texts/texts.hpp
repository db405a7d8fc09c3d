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
// an empty line where `blank_ends`, or to `lines` lines later. Sections may lie in each other.
struct TextSection {
  std::string id;
  std::string begins, ends; // RE2; `ends` empty: only by the other two
  // One of them is in each first line, as in TextRow. Named groups of `begins` are groups of the
  // rows inside, as "begin_NAME".
  std::vector<std::string> literals;
  bool blank_ends = false;
  bool head = false;    // as in TextRow
  bool columns = false; // comma-separated values under names: TextColumn tells what they give
  uint32_t lines = 0;   // at most
  std::string example;  // a first line
  std::string source;
};

// "driver.version={driver}": a name and a value with groups of the pattern in braces, each with the
// form it is to take: {size|MiB}. Where a group took no part or is empty, there is no fact. Names
// that begin with '@' are not facts by themselves: facts_in_text.cpp lists them.
struct TextRow {
  std::string pattern; // RE2
  std::vector<std::string>
      literals;                // of 4 bytes at least; one of them is in each line that matches
  std::vector<std::string> in; // sections; empty: anywhere. Inside, literals are not needed
  std::vector<std::string> gives;
  bool part = false;  // only a part of its line: what a person says beside it counts too
  bool said = false;  // words of a person, not of a program: counts less
  bool head = false;  // its literals are common words: only looked for where reports are pasted
  bool alone = false; // where it matches, the rest of what is said does not count
  bool words = false; // the pattern is that of one word, tried on each of the line
  std::string example;
  std::vector<std::string> expect; // what the example gives: "driver.version=535.104.05"
  std::string source;
};

// A column of comma-separated values, "memory.total [MiB]", and what a value in it gives.
struct TextColumn {
  std::string name, gives, source;
};

// A person's words that match are about something else than this machine: "torch 2.1 requires".
struct TextVeto {
  std::string pattern, example, source;
};

// An operating system as reports name it, with its id of os-release and its package system.
struct TextOs {
  std::string name, id, packages, source; // "Red Hat Enterprise Linux", "rhel", "dnf"
};

struct TextTables {
  std::vector<TextSection> sections;
  std::vector<TextRow> rows;
  std::vector<TextColumn> columns;
  std::vector<TextVeto> vetoes;
  std::vector<TextOs> systems;
};

void read_texts(FactFile& file, TextTables& tables);

} // namespace gpuvet
