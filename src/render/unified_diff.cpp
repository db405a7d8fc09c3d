#include "render/unified_diff.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace gpuvet {
namespace {

constexpr size_t kContext = 3; // lines

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    size_t size = end == text.npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

void put(std::string& out, char mark, std::string_view line, std::string_view colour) {
  bool ends = line.ends_with('\n');
  if (ends) line.remove_suffix(1);
  std::string shown = fmt::format("{}{}", mark, line);
  out += colour.empty() ? shown : fmt::format("\x1b[{}m{}\x1b[0m", colour, shown);
  out += ends ? "\n" : "\n\\ No newline at end of file\n";
}

} // namespace

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after,
                         const TextStyle& style) {
  std::vector<std::string_view> old_lines = lines_of(before), new_lines = lines_of(after);
  size_t count = std::min(old_lines.size(), new_lines.size());
  std::vector<size_t> changed;
  for (size_t i = 0; i < count; ++i)
    if (old_lines[i] != new_lines[i]) changed.push_back(i);
  if (changed.empty()) return {};
  std::string out =
      fmt::format("--- a/{0}\n+++ b/{0}\n", path.starts_with('/') ? path.substr(1) : path);
  for (size_t k = 0; k < changed.size();) {
    size_t first = changed[k] - std::min(changed[k], kContext), last = k;
    while (last + 1 < changed.size() && changed[last + 1] - changed[last] <= 2 * kContext)
      ++last;
    size_t end = std::min(count, changed[last] + kContext + 1);
    out += fmt::format("@@ -{0},{1} +{0},{1} @@\n", first + 1, end - first);
    size_t i = first;
    while (i < end) {
      size_t run = i;
      while (run < end && old_lines[run] != new_lines[run])
        ++run;
      for (size_t n = i; n < run; ++n)
        put(out, '-', old_lines[n], style.colour ? "31" : "");
      for (size_t n = i; n < run; ++n)
        put(out, '+', new_lines[n], style.colour ? "32" : "");
      if (run == i) put(out, ' ', old_lines[i++], "");
      i = std::max(i, run);
    }
    k = last + 1;
  }
  return out;
}

} // namespace gpuvet
