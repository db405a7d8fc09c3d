#include "judge/here/toolkit.hpp"

#include "judge/checks/common.hpp"
#include "judge/here/python.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {

std::string shown(const InstalledToolkit& toolkit) {
  std::string text = fmt::format("{}: CUDA {}", toolkit.folder,
                                 toolkit.version.empty() ? "of unknown version" : toolkit.version);
  return toolkit.owner.empty() ? text : text + ", of package " + toolkit.owner;
}

std::string shown(const NvccOnPath& nvcc) {
  std::string text =
      fmt::format("{}: release {}", nvcc.path, nvcc.version.empty() ? "unknown" : nvcc.version);
  return nvcc.owner.empty() ? text : text + ", of package " + nvcc.owner;
}

bool for_all(const InstalledToolkit& toolkit) { // not of one Python environment
  return toolkit.origin != Origin::conda && toolkit.origin != Origin::pip;
}

std::vector<const InstalledToolkit*> with_nvcc(const Machine& machine) {
  std::vector<const InstalledToolkit*> found;
  for (const InstalledToolkit& toolkit : machine.toolkits.installed)
    if (toolkit.has_nvcc && !toolkit.leftover) found.push_back(&toolkit);
  return found;
}

bool toolkits_cut_short(const Machine& machine) {
  const std::vector<std::string>& cut = machine.not_finished;
  return std::find(cut.begin(), cut.end(), "software and shared libraries") != cut.end();
}

const InstalledToolkit* toolkit_of(const Machine& machine, const std::string& nvcc) {
  for (const InstalledToolkit* toolkit : with_nvcc(machine))
    if (below(nvcc, toolkit->real_folder) || below(nvcc, toolkit->folder)) return toolkit;
  return nullptr;
}

std::optional<BuildToolkit> build_toolkit(const Machine& machine) {
  for (const NvccOnPath& nvcc : machine.toolkits.nvcc)
    if (!nvcc.version.empty())
      return BuildToolkit{nvcc.version, shown(nvcc), toolkit_of(machine, nvcc.real_path)};
  std::vector<const InstalledToolkit*> all = with_nvcc(machine);
  for (const InstalledToolkit* toolkit : all)
    if (machine.toolkits.cuda_link && *machine.toolkits.cuda_link == toolkit->real_folder &&
        !toolkit->version.empty())
      return BuildToolkit{toolkit->version, shown(*toolkit), toolkit};
  if (all.size() == 1 && !all[0]->version.empty())
    return BuildToolkit{all[0]->version, shown(*all[0]), all[0]};
  return std::nullopt;
}

Outcome no_build_toolkit(const Machine& machine) {
  if (toolkits_cut_short(machine))
    return not_known("the deadline cut short the search for toolkits");
  if (with_nvcc(machine).empty() && machine.toolkits.nvcc.empty())
    return not_applicable("no CUDA toolkit with nvcc is installed");
  return not_known("which toolkit a build takes is not known; nvcc --version tells");
}

const Toolkit* find_toolkit_facts(const Facts& facts, const std::string& version) {
  auto table = facts.toolkits();
  if (!table) return nullptr;
  for (const Toolkit& toolkit : **table)
    if (toolkit.version == minor_release(version)) return &toolkit;
  return nullptr;
}

} // namespace gpuvet
