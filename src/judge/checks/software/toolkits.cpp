// Checks of installed toolkits, nvcc and the host compiler. A machine that only runs programs needs
// no toolkit: what is said here matters to those who compile.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/here/python.hpp"
#include "judge/here/toolkit.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// --- what is installed --------------------------------------------------------------------------

Outcome several_toolkits(const Machine& machine, const Facts&) {
  if (toolkits_cut_short(machine))
    return not_known("the deadline cut short the search for toolkits");
  std::vector<std::string> evidence, versions;
  for (const InstalledToolkit* toolkit : with_nvcc(machine)) {
    if (!for_all(*toolkit)) continue;
    evidence.push_back(shown(*toolkit));
    if (std::find(versions.begin(), versions.end(), toolkit->version) == versions.end())
      versions.push_back(toolkit->version);
  }
  if (evidence.empty()) return not_applicable("no CUDA toolkit with nvcc is installed");
  if (versions.size() < 2) return ok(evidence[0]);
  if (auto used = build_toolkit(machine)) evidence.push_back("a build takes " + used->evidence);
  return fires(evidence,
               {{"count", fmt::format("{}", evidence.size())}, {"versions", joined(versions)}});
}

Outcome toolkit_leftover(const Machine& machine, const Facts&) {
  if (toolkits_cut_short(machine))
    return not_known("the deadline cut short the search for toolkits");
  std::vector<std::string> evidence, folders;
  for (const InstalledToolkit& toolkit : machine.toolkits.installed) {
    if (!toolkit.leftover) continue;
    std::string owner =
        toolkit.owner.empty() ? "no package owns it" : "of package " + toolkit.owner;
    evidence.push_back(fmt::format("{}: no nvcc, {}; holds {}{}", toolkit.folder, owner,
                                   toolkit.files.empty() ? "nothing" : toolkit.files.front(),
                                   toolkit.files.size() > 1 ? " and others" : ""));
    if (toolkit.owner.empty()) folders.push_back(toolkit.folder);
  }
  if (evidence.empty()) return ok("no folder of a removed toolkit");
  std::string command = folders.empty() ? "nothing to do: packages own these folders"
                                        : "sudo rm -r " + joined(folders, " ");
  return fires(evidence, {{"count", fmt::format("{}", evidence.size())}, {"command", command}});
}

Outcome cuda_link_dangling(const Machine& machine, const Facts&) {
  const Toolkits& toolkits = machine.toolkits;
  if (!toolkits.cuda_link_dangling) {
    if (toolkits_cut_short(machine))
      return not_known("the deadline cut short the look at /usr/local/cuda");
    if (!toolkits.cuda_link) return not_applicable(toolkits.cuda_link.why_unknown);
    return ok("/usr/local/cuda leads to " + *toolkits.cuda_link);
  }
  std::string target = toolkits.cuda_link ? *toolkits.cuda_link : "a folder that is gone";
  std::string command = "sudo rm /usr/local/cuda";
  for (const InstalledToolkit* toolkit : with_nvcc(machine))
    if (below(toolkit->real_folder, "/usr/local"))
      command = fmt::format("sudo ln -sfn {} /usr/local/cuda", toolkit->real_folder);
  return fires({fmt::format("/usr/local/cuda: link to {}, which does not exist", target)},
               {{"target", target}, {"command", command}});
}

Outcome toolkit_absent(const Machine& machine, const Facts&) {
  if (toolkits_cut_short(machine))
    return not_known("the deadline cut short the search for toolkits");
  if (auto used = build_toolkit(machine)) return ok(used->evidence);
  if (!with_nvcc(machine).empty()) return ok("a toolkit is installed");
  std::vector<std::string> evidence;
  for (const PythonEnv& env : machine.pythons)
    for (const char* name : {"deepspeed", "apex", "torch-sparse", "flashinfer-python"})
      if (const PythonPackage* package = find_package(env, name))
        evidence.push_back(shown(*package) + ": compiles GPU code when it is used");
  if (evidence.empty()) return ok("no toolkit is installed; wheels and programs need none");
  return fires(evidence);
}

// --- nvcc ---------------------------------------------------------------------------------------

Outcome nvcc_shadowed(const Machine& machine, const Facts&) {
  const std::vector<NvccOnPath>& nvcc = machine.toolkits.nvcc;
  if (nvcc.empty()) return no_build_toolkit(machine);
  const NvccOnPath& first = nvcc.front();
  bool distribution = first.path == "/usr/bin/nvcc" || first.owner == "nvidia-cuda-toolkit";
  if (!distribution) return ok(shown(first));
  auto own = parse_version(first.version);
  if (!own)
    return not_known("the release of " + first.path + " is not known; nvcc --version tells");
  const InstalledToolkit* newer = nullptr;
  for (const InstalledToolkit* toolkit : with_nvcc(machine)) {
    auto version = parse_version(toolkit->version);
    bool other = !below(first.real_path, toolkit->real_folder) && for_all(*toolkit);
    if (other && version && *version > *own) newer = toolkit;
  }
  if (!newer) return ok(shown(first) + ", and no newer toolkit is installed");
  return fires({"first on PATH: " + shown(first), "not used: " + shown(*newer)},
               {{"path", first.path},
                {"release", first.version},
                {"newer", newer->version},
                {"folder", newer->folder}});
}

Outcome nvcc_not_on_path(const Machine& machine, const Facts&) {
  std::vector<const InstalledToolkit*> all = with_nvcc(machine);
  std::erase_if(all, [](const InstalledToolkit* toolkit) { return !for_all(*toolkit); });
  if (all.empty()) return no_build_toolkit(machine);
  if (!machine.toolkits.nvcc.empty()) return ok(shown(machine.toolkits.nvcc.front()));
  if (!machine.environment.count("PATH")) return not_known("PATH is not known");
  return fires({shown(*all.front()), "PATH: no folder has nvcc"},
               {{"folder", all.front()->folder}, {"version", all.front()->version}});
}

Outcome cuda_home_missing(const Machine& machine, const Facts&) {
  std::vector<std::string> evidence;
  std::string first, value;
  for (const std::string& name : machine.toolkits.environment_missing) {
    if (!name.starts_with("CUDA")) continue; // compilers and XLA_FLAGS are not toolkits
    auto at = machine.toolkits.environment.find(name);
    if (at == machine.toolkits.environment.end()) continue;
    evidence.push_back(fmt::format("environment: {}={}, which does not exist", name, at->second));
    if (!first.empty()) continue;
    first = name;
    value = at->second;
  }
  if (evidence.empty())
    return machine.toolkits.environment.empty() ? not_applicable("no variable names a toolkit")
                                                : ok("what the variables name exists");
  return fires(evidence, {{"name", first}, {"value", value}});
}

Outcome cuda_home_disagrees(const Machine& machine, const Facts&) {
  const Toolkits& toolkits = machine.toolkits;
  if (toolkits.nvcc.empty()) return not_applicable("there is no nvcc on PATH to disagree with");
  const NvccOnPath& nvcc = toolkits.nvcc.front();
  size_t compared = 0;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT", "CUDACXX"}) {
    auto at = toolkits.environment.find(name);
    if (at == toolkits.environment.end()) continue;
    const InstalledToolkit* named = nullptr;
    for (const InstalledToolkit* toolkit : with_nvcc(machine))
      if (below(at->second, toolkit->folder) || below(at->second, toolkit->real_folder))
        named = toolkit;
    if (!named && machine.toolkits.cuda_link && below(at->second, "/usr/local/cuda"))
      named = toolkit_of(machine, *machine.toolkits.cuda_link + "/bin/nvcc");
    if (!named || named->version.empty() || nvcc.version.empty()) continue;
    ++compared;
    if (minor_release(named->version) == minor_release(nvcc.version)) continue;
    return fires({fmt::format("environment: {}={}, CUDA {}", name, at->second, named->version),
                  "first on PATH: " + shown(nvcc)},
                 {{"name", name},
                  {"value", at->second},
                  {"version", minor_release(named->version)},
                  {"folder", named->folder},
                  {"nvcc", nvcc.path},
                  {"release", minor_release(nvcc.version)}});
  }
  if (compared == 0) return not_applicable("no variable names a known toolkit");
  return ok("the variables and nvcc on PATH name the same release");
}

// --- files that do not belong -------------------------------------------------------------------

Outcome copied_libraries(const Machine& machine, const Facts&) {
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  std::vector<std::string> evidence;
  std::string folder, kind;
  for (const CudaLibrary& library : machine.libraries) {
    bool separate = library.kind == "cudnn" || library.kind == "nccl" || library.kind == "tensorrt";
    if (!separate || !library.python.empty() || !library.file.owner.empty()) continue;
    for (const InstalledToolkit& toolkit : machine.toolkits.installed) {
      bool packaged = !toolkit.owner.empty() && for_all(toolkit);
      if (!packaged || !below(library.file.real_path, toolkit.real_folder)) continue;
      evidence.push_back(
          fmt::format("{}: version {}, of no package", library.file.path,
                      library.file.version.empty() ? "unknown" : library.file.version));
      folder = toolkit.folder;
      kind = library.kind;
    }
  }
  if (evidence.empty()) return ok("no copied libraries in the folders of packaged toolkits");
  return fires(evidence,
               {{"count", fmt::format("{}", evidence.size())}, {"kind", kind}, {"folder", folder}});
}

Outcome distribution_layout(const Machine& machine, const Facts&) {
  if (machine.toolkits.nvcc.empty()) return no_build_toolkit(machine);
  const NvccOnPath& nvcc = machine.toolkits.nvcc.front();
  if (nvcc.path != "/usr/bin/nvcc" || with_nvcc(machine).size() > 1)
    return not_applicable("nvcc is not only the distribution's");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT"})
    if (auto at = machine.toolkits.environment.find(name); at != machine.toolkits.environment.end())
      return ok(fmt::format("{}={}", name, at->second));
  if (machine.toolkits.cuda_link) return ok("/usr/local/cuda: " + *machine.toolkits.cuda_link);
  return fires({shown(nvcc), "/usr/local/cuda does not exist, no CUDA_HOME is set"},
               {{"release", nvcc.version}});
}

} // namespace

CheckList toolkit_checks() {
  return {{"toolkits-several", several_toolkits},
          {"toolkit-leftover", toolkit_leftover},
          {"cuda-link-dangling", cuda_link_dangling},
          {"toolkit-absent", toolkit_absent},
          {"nvcc-shadowed", nvcc_shadowed},
          {"nvcc-not-on-path", nvcc_not_on_path},
          {"cuda-home-missing", cuda_home_missing},
          {"cuda-home-disagrees", cuda_home_disagrees},
          {"toolkit-copied-libraries", copied_libraries},
          {"toolkit-distribution-layout", distribution_layout}};
}

} // namespace gpuvet
