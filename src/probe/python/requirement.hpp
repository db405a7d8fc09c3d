// One Requires-Dist line: a name, extras, a version constraint and a condition. Format: PEP 508.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// As package indexes compare names: lower case, with '-' for any run of '-', '_' and '.'.
std::string normalised_package(std::string_view name);

struct Requirement {
  std::string name;                // normalised
  std::vector<std::string> extras; // "cudart" of "cuda-toolkit[cudart]"
  std::string versions;            // "==9.1.0.70", without blanks; empty: any
  std::string condition;           // as written; empty: always
};

Requirement parse_requirement(std::string_view text);

// Whether a condition holds where the variables have these values ("platform_machine" ->
// "x86_64"). A comparison with a variable that is not given counts as true; `extra` is true for
// each of `extras`. A condition that cannot be read is true.
bool condition_holds(std::string_view condition, const std::map<std::string, std::string>& values,
                     const std::set<std::string>& extras);

} // namespace gpuvet
