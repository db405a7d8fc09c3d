#include "probe/python/interpreters.hpp"

#include "base/text.hpp"
#include "os/file_tree.hpp"
#include "probe/python_env.hpp"
#include "probe/software/toolkits.hpp"

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

struct Choice {
  std::string executable, why;
};

std::vector<Choice> choices(const ProbeOptions& options, const Environment& environment) {
  std::vector<Choice> chosen;
  for (const std::string& python : options.pythons)
    chosen.push_back({.executable = python, .why = "named"});
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (std::string prefix = variable(environment, name); !prefix.empty())
      chosen.push_back(
          {.executable = prefix + "/bin/python", .why = "active (" + std::string(name) + ")"});
  for (const char* name : {"python3", "python"})
    chosen.push_back({.executable = name, .why = "first " + std::string(name) + " on PATH"});
  return chosen;
}

// The first program of that name on PATH.
std::string on_path(const Source& source, const Environment& environment, const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  for (const std::string& folder : folders_of(variable(environment, "PATH")))
    if (exists(source, join_path(folder, name)) && !is_folder(source, join_path(folder, name)))
      return join_path(folder, name);
  return {};
}

// pyenv puts a script before the interpreter: shims/python3 stands for versions/3.11.7/bin/python3,
// with the version from PYENV_VERSION or the file `version`. Empty when it is not pyenv's.
std::string behind_shim(const Source& source, const Environment& environment,
                        const std::string& executable) {
  std::string shims = parent_folder(executable);
  if (base_name(shims) != "shims") return {};
  std::string root = parent_folder(shims);
  std::string version = variable(environment, "PYENV_VERSION");
  if (version.empty()) version = first_line(source, root + "/version");
  version = version.substr(0, version.find(':'));
  std::string real = root + "/versions/" + version + "/bin/" + base_name(executable);
  return !version.empty() && exists(source, real) ? real : std::string();
}

// Folders of PYTHONPATH come before all others.
void add_python_path(const Source& source, const Environment& environment, PythonEnv& env) {
  std::vector<std::string> first;
  for (const std::string& folder : folders_of(variable(environment, "PYTHONPATH")))
    if (folder.starts_with('/') && is_folder(source, folder) &&
        std::find(env.folders.begin(), env.folders.end(), folder) == env.folders.end())
      first.push_back(folder);
  env.folders.insert(env.folders.begin(), first.begin(), first.end());
}

PythonEnv described(const Source& source, const Environment& environment, const Choice& choice,
                    const Result<PythonEnvironment>& found) {
  PythonEnv env;
  env.executable = choice.executable;
  env.why = choice.why;
  for (const char* name : {"PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONHOME", "CONDA_PREFIX",
                           "VIRTUAL_ENV", "CONDA_OVERRIDE_CUDA"})
    if (std::string value = variable(environment, name); !value.empty()) env.settings[name] = value;
  if (!found) {
    env.packages =
        unknown<std::vector<PythonPackage>>(found.error().where + ": " + found.error().what);
    return env;
  }
  env.executable = found->executable;
  env.prefix = found->prefix;
  env.kind = found->kind;
  env.python_version = found->version;
  env.folders = found->folders;
  add_python_path(source, environment, env);
  return env;
}

} // namespace

std::vector<PythonEnv> find_interpreters(const Source& source, const ProbeOptions& options,
                                         const Environment& environment) {
  std::vector<PythonEnv> found;
  std::set<std::string> seen;
  PythonSearch search{.path = variable(environment, "PATH"), .home = variable(environment, "HOME")};
  if (!variable(environment, "PYTHONNOUSERSITE").empty()) search.home.clear();
  for (Choice& choice : choices(options, environment)) {
    bool named = choice.why == "named";
    std::string program = on_path(source, environment, choice.executable);
    if (program.empty() && !named) continue; // no Python on PATH is no finding
    if (!program.empty()) choice.executable = program;
    if (std::string real = behind_shim(source, environment, program); !real.empty()) {
      choice.executable = real;
      choice.why += " (pyenv)";
    }
    auto python = find_python(source, choice.executable, search);
    std::string key = python ? python->real_executable + "\n" + python->prefix : choice.executable;
    if (!seen.insert(key).second) continue;
    found.push_back(described(source, environment, choice, python));
  }
  return found;
}

} // namespace gpuvet
