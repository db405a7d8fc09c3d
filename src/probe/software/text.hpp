// Cutting up long texts without copying them.
#pragma once

#include "base/text.hpp"

#include <string_view>
#include <vector>

namespace gpuvet {

// Parts between any of `separators`, without empty ones. They point into `text`.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators = " \t");

bool is_number(std::string_view text); // digits only, at least one

// Calls `use(line)` for each line, without its line end.
template <class Use> void each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(line);
  }
}

} // namespace gpuvet
