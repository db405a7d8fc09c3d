// One entry of a list: "8.6+PTX", "90a-real", "compute_90", "5.2(5.0)". Internal to judge/arch.
#pragma once

#include "judge/arch/dialect.hpp"

namespace gpuvet {

struct ArchEntry {
  Target value;
  std::optional<Target> from; // of X.Y(A.B)
  bool sass = true, ptx = false;
};

Result<ArchEntry> read_entry(const ArchSystem& system, std::string_view text,
                             const ArchContext& context);

std::string entry_text(const ArchSystem& system, const ArchEntry& entry);

// The code that the system builds for the entries, its own additions included.
Result<CodeSet> codes_of(const ArchSystem& system, std::vector<ArchEntry> entries,
                         const ArchContext& context);

// A number alone in the system's format: "86", "8.6", "9.0a".
Result<Target> read_number(const ArchSystem& system, std::string_view text,
                           const ArchContext& context);

} // namespace gpuvet
