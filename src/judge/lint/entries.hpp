// The entries of an architecture list as people write them, in any tool's spelling, and how each
// tool would write the same.
#pragma once

#include "facts/lint/lint.hpp"

namespace gpuvet {

enum class NumberStyle : uint8_t { dotted, integer, machine, virtual_code, link_time };

struct ListEntry {
  std::string text;
  size_t begin = 0, end = 0; // in the value
  bool is_target = false;    // else a word
  Target target;
  NumberStyle style = NumberStyle::integer;
  bool plus_ptx = false, real_only = false, virtual_only = false;
  std::optional<Target> from; // "8.6(8.0)": compiled from this virtual architecture
};

struct GencodePair { // arch=compute_80,code=[sm_80,compute_80]
  std::string arch;  // as written
  std::vector<std::string> codes;
};

ListEntry parse_entry(std::string_view text);

// At every character that some tool takes as a separator; empty entries are kept. `used`: which.
std::vector<ListEntry> parse_entries(std::string_view value, std::string& used);

// As `number` ("dotted", "cmake", ...) is written; nullopt: it can't say this.
std::optional<std::string> spelled(const ListEntry& entry, std::string_view number);

// As the tool takes it, by the first of its ways that can say it.
std::optional<std::string> spelled_for(const ListEntry& entry, const LintVariable& variable);

bool is_spelled_for(const ListEntry& entry, const LintVariable& variable);

std::optional<GencodePair> parse_gencode(std::string_view value);

// What a list makes code for.
struct CodeTarget {
  Target target;
  bool sass = false, ptx = false;
};
std::vector<CodeTarget> code_targets(const std::vector<ListEntry>& entries,
                                     const LintVariable& variable);

// Words that differ in at most `most` letters: put in, left out, changed or swapped.
bool nearly_same(std::string_view a, std::string_view b, size_t most);

} // namespace gpuvet
