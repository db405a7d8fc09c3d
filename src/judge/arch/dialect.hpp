// Between texts of a build system and the code that it builds, by the rows of arch/systems.toml.
#pragma once

#include "facts/arch/arch.hpp"
#include "judge/arch/code.hpp"

#include <optional>
#include <string>

namespace gpuvet {

// What reading and writing may depend on.
struct ArchContext {
  const ArchTables* tables = nullptr;
  const LoadRules* rules = nullptr; // families of the suffix f
  const Toolkit* toolkit = nullptr; // null: nobody named one
  std::optional<Version> release;   // of the system's product, such as torch 2.6
};

// The code that `value` makes the system build. Errors name the entry and say why: a wrong number
// format or separator, a keyword whose meaning depends on the machine or on a toolkit that was not
// named, a target that the system does not take.
Result<CodeSet> read_value(const ArchSystem& system, std::string_view value,
                           const ArchContext& context);

// The value that makes the system build exactly this code, or what of it cannot be said. The value
// is read back before it is given.
Result<std::string> write_value(const ArchSystem& system, const CodeSet& codes,
                                const ArchContext& context);

// A list for the system of the targets that a person has in mind: machine code for each, PTX of the
// last. What the system makes of it may differ, since some rewrite entries or add PTX on their own:
// read it back.
Result<std::string> write_wish(const ArchSystem& system, const std::vector<Target>& targets,
                               bool ptx_of_last, const ArchContext& context);

// --- parts, shared by reading and writing -------------------------------------------------------

// Does the row hold for the toolkit? Rows without bounds hold for any.
bool holds_for(const std::optional<Version>& first, const std::optional<Version>& last,
               const Toolkit* toolkit);

// Does the system's product take the target? Unknown releases and toolkits count as any.
bool accepts(const ArchSystem& system, Target target, const ArchContext& context);

// The rewrite of an entry. An error when it depends on a toolkit that was not named.
Result<const ArchRewrite*> rewrite_of(const ArchSystem& system, Target value,
                                      const ArchContext& context);

// "86", "8.6", "sm_86" as the system wants numbers; of PTX "compute_86" where it is prefixed.
std::string number_text(const ArchSystem& system, Target target, bool ptx = false);

} // namespace gpuvet
