// Python environments: packages, what they were built for, the GPU code in them.
#include "base/compute_capability.hpp"
#include "judge/diff/parts.hpp"

#include <algorithm>

namespace gpuvet::diff {
namespace {

std::map<std::string, std::string> packages_of(const PythonEnv& env) {
  std::map<std::string, std::string> packages;
  for (const PythonPackage& package : *env.packages)
    packages[package.name] = package.version + (package.build.empty() ? "" : " " + package.build);
  return packages;
}

std::string targets(const std::vector<Target>& list, std::string (*name)(Target)) {
  std::string text;
  for (Target target : list)
    text += (text.empty() ? "" : " ") + name(target);
  return text;
}

std::map<std::string, std::string> code_of(const PythonEnv& env) {
  std::map<std::string, std::string> code;
  for (const PackageCode& library : env.code) {
    std::string text;
    if (library.sass) text = targets(*library.sass, sm_name);
    if (library.ptx && !library.ptx->empty())
      text += (text.empty() ? "" : " ") + targets(*library.ptx, compute_name);
    if (library.sass || library.ptx) code[library.package] = text.empty() ? "none" : text;
  }
  return code;
}

// Facts that both sides have: one without torch is told by its packages already.
void compare_facts(const std::string& id, const std::string& subject,
                   const std::map<std::string, std::string>& before,
                   const std::map<std::string, std::string>& after, Changes& changes) {
  for (const auto& [name, value] : before)
    if (auto same = after.find(name); same != after.end() && name != "version")
      changes.compare(id, subject + name, value, same->second);
}

// The environment that plays the same part: of the same program, else found for the same reason.
const PythonEnv* counterpart(const PythonEnv& env, const std::vector<PythonEnv>& others) {
  for (const PythonEnv& other : others)
    if (other.executable == env.executable) return &other;
  for (const PythonEnv& other : others)
    if (!other.why.empty() && other.why == env.why) return &other;
  return nullptr;
}

} // namespace

void compare_python(const PythonEnv& before, const PythonEnv& after, const std::string& start,
                    Changes& changes) {
  changes.compare("python-version", start + "Python", before.python_version, after.python_version);
  if (before.packages && after.packages)
    changes.compare_maps("python-package", start, packages_of(before), packages_of(after));
  else if (before.packages || after.packages)
    changes.not_compared(start + "packages",
                         before.packages
                             ? "not known in the second: " + after.packages.why_unknown
                             : "not known in the first: " + before.packages.why_unknown);
  compare_facts("torch", start + "torch is built with ", before.torch, after.torch, changes);
  compare_facts("tensorflow", start + "tensorflow is built with ", before.tensorflow,
                after.tensorflow, changes);
  const auto old_code = code_of(before), new_code = code_of(after);
  compare_facts("gpu-code", start + "GPU code of ", old_code, new_code, changes);
}

void compare_pythons(const Machine& before, const Machine& after, Changes& changes) {
  std::set<const PythonEnv*> met;
  for (const PythonEnv& env : before.pythons) {
    const PythonEnv* same = counterpart(env, after.pythons);
    if (!same) {
      changes.not_compared("Python " + env.executable, "looked at only before");
      continue;
    }
    met.insert(same);
    if (env.executable != same->executable)
      changes.compare("python", "Python, " + env.why, env.executable, same->executable);
    compare_python(env, *same, same->prefix + ": ", changes);
  }
  for (const PythonEnv& env : after.pythons)
    if (!met.count(&env)) changes.not_compared("Python " + env.executable, "looked at only now");
}

} // namespace gpuvet::diff
