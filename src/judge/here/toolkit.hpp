// CUDA toolkits as checks ask about them: which one a build takes.
#pragma once

#include "judge/doctor/check.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

std::string shown(const InstalledToolkit& toolkit); // for evidence
std::string shown(const NvccOnPath& nvcc);

bool for_all(const InstalledToolkit& toolkit); // not of one Python environment

std::vector<const InstalledToolkit*> with_nvcc(const Machine& machine);

// The one that a program of it belongs to, by folder; null: none.
const InstalledToolkit* toolkit_of(const Machine& machine, const std::string& nvcc);

// The toolkit that a build takes: the first nvcc on PATH, else /usr/local/cuda, else the only one.
struct BuildToolkit {
  std::string version; // "12.8.1"
  std::string evidence;
  const InstalledToolkit* installed = nullptr; // null: not among the known ones
};
std::optional<BuildToolkit> build_toolkit(const Machine& machine);

// What to answer where there is none.
Outcome no_build_toolkit(const Machine& machine);
bool toolkits_cut_short(const Machine& machine); // the deadline came before they were found

const Toolkit* find_toolkit_facts(const Facts& facts, const std::string& version);

} // namespace gpuvet
