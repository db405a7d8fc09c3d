#include "formats/log_text/escapes.hpp"
#include "formats/log_text/log_text.hpp"
#include "formats/log_text/prefixes.hpp"

namespace gpuvet {
namespace {

constexpr int kMostPrefixes = 6; // of one line: time, host, container, rank

} // namespace

std::string_view plain_line(std::string_view raw, std::string& room) {
  std::string_view line = without_controls(raw, room) ? std::string_view(room) : raw;
  for (int round = 0; round < kMostPrefixes; ++round) {
    std::string_view rest = line;
    while (rest.starts_with(' ') || rest.starts_with('\t'))
      rest.remove_prefix(1);
    size_t length = prefix_length(rest);
    if (length == 0 || length >= rest.size()) break;
    line = rest.substr(length);
  }
  while (line.ends_with(' ') || line.ends_with('\t') || line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

} // namespace gpuvet
