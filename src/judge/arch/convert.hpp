// From one build system's value to another's.
#pragma once

#include "judge/arch/dialect.hpp"

namespace gpuvet {

struct Conversion {
  CodeSet codes;     // what both values build
  std::string value; // for the other system
};

// Exactly, or an error that says what cannot be expressed. Targets that no toolkit has, or that the
// named toolkit does not know, are errors too.
Result<Conversion> convert_value(const ArchSystem& from, const ArchSystem& to,
                                 std::string_view value, const ArchContext& context);

// A target of the set that does not exist, or that the toolkit lacks; nullopt: none.
std::optional<Error> unknown_target(const CodeSet& codes, const ArchContext& context);

} // namespace gpuvet
