#include "probe/software/text.hpp"

#include <algorithm>

namespace gpuvet {

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t first = text.find_first_not_of(separators);
    if (first == std::string_view::npos) return parts;
    text.remove_prefix(first);
    std::string_view part = text.substr(0, text.find_first_of(separators));
    parts.push_back(part);
    text.remove_prefix(part.size());
  }
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace gpuvet
