// A Report as text for a person: the verdict first, then tables, findings and notes, in `width`
// columns. Colour carries no meaning of its own: each state also has its word.
#pragma once

#include "model/report.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuvet {

struct TextStyle {
  bool colour = false;
  int width = 80; // columns
};

std::string render_terminal(const Report& report, const TextStyle& style);

std::string render_table(const Table& table, const TextStyle& style);

// Paragraph broken at spaces; every line after the first starts with `indent` spaces.
std::string wrap(std::string_view text, int width, int indent);

// Columns that text takes on a terminal (UTF-8 sequences count once).
int display_width(std::string_view text);

// The end of a long path, "...ib/libfoo.so", in at most `width` columns: the end tells most.
std::string shorten_left(std::string_view text, int width);

// Control characters of hostile names made visible, so that they can't move the cursor.
std::string printable(std::string_view text);

} // namespace gpuvet
