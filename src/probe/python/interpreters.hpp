// Which Python interpreters are looked at: those that the user names, the active environments, and
// the one that a shell would start.
#pragma once

#include "probe/probe.hpp"
#include "probe/source.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuvet {

// Each with its folders; packages are not read yet. One that cannot be followed has the reason in
// `packages`.
std::vector<PythonEnv> find_interpreters(const Source& source, const ProbeOptions& options,
                                         const std::map<std::string, std::string>& environment);

} // namespace gpuvet
