// Small operations on text that the probes of software share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

std::string_view trimmed(std::string_view text); // blanks at both ends

// Parts between any of `separators`, without empty ones.
std::vector<std::string_view> words_of(std::string_view text, std::string_view separators = " \t");

std::string lower_case(std::string_view text);
bool holds(std::string_view text, std::string_view part);
bool is_number(std::string_view text); // digits only, at least one

// Calls `use(line)` for each line, without its line feed.
template <class Use> void each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(line);
  }
}

} // namespace gpuvet
