// What log writers put before a line: times, hosts, ranks, container names. Each is a pattern:
//   #  one or more digits     ~  a word of letters, digits and _ . - /     blank  one or more
//   blanks `  the next character as it stands; everything else stands for itself
#pragma once

#include <span>
#include <string_view>

namespace gpuvet {

struct LogPrefix {
  std::string_view pattern;
  std::string_view example; // a whole prefix, as some program writes it
  std::string_view writer;
};

std::span<const LogPrefix> log_prefixes();

// Bytes of the prefix with which the line begins; 0: none.
size_t prefix_length(std::string_view line);

} // namespace gpuvet
