// Keywords of build systems: "native", "all-major", "Ampere". Internal to judge/arch.
#pragma once

#include "judge/arch/dialect.hpp"

namespace gpuvet {

// What a keyword stands for: entries in the system's own syntax, or code.
struct Keyword {
  std::string value;
  std::optional<CodeSet> codes;
};

// nullopt: not a keyword of the system. An error: its meaning cannot be told here.
Result<std::optional<Keyword>> keyword_of(const ArchSystem& system, std::string_view word,
                                          const ArchContext& context);

} // namespace gpuvet
