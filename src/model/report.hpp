// A report is everything a command concluded, before anybody decided how to show it.
#pragma once

#include <string>
#include <vector>

namespace gpuvet {

enum class State { ok, info, warning, fault, unknown, not_applicable, skipped };

struct Finding {
  std::string id; // kebab-case, stable
  State state = State::unknown;
  std::string title;
  std::vector<std::string> evidence; // file or call, and the value found there
  std::string cause;
  std::vector<std::string> fixes; // commands or steps, first the best
};

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool wraps = false; // long cells go on below themselves; for the last column
};

// A cell is text plus its meaning, so that a terminal can colour it and JSON need not parse it.
struct Cell {
  std::string text;
  State state = State::info;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

struct Report {
  std::string verdict; // one line, first on the screen
  State state = State::unknown;
  std::vector<Table> tables;
  std::vector<Finding> findings;
  std::vector<Table> closing; // shown after the findings
  std::vector<std::string> notes;
};

} // namespace gpuvet
