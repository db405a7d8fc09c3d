// The probe of Python environments. Nothing is imported or run, apart from what the user asks for
// with --import.
#include "probe/probe.hpp"
#include "probe/python/extensions.hpp"
#include "probe/python/frameworks.hpp"
#include "probe/python/imports.hpp"
#include "probe/python/interpreters.hpp"
#include "probe/python/package_code.hpp"
#include "probe/python/python_packages.hpp"

#include <future>
#include <iterator>

namespace gpuvet {
namespace {

// Variables of requirements' conditions, as far as they are known without running Python.
std::map<std::string, std::string> condition_values(const PythonEnv& env,
                                                    const std::string& architecture) {
  std::string version = env.python_version;
  if (version.ends_with('t')) version.pop_back(); // built without the global lock
  return {{"platform_system", "Linux"},
          {"sys_platform", "linux"},
          {"os_name", "posix"},
          {"platform_machine", architecture},
          {"python_version", version},
          {"implementation_name", "cpython"},
          {"platform_python_implementation", "CPython"}};
}

void read_environment(const Source& source, const std::string& architecture, PythonEnv& env) {
  bool conda = is_folder(source, env.prefix + "/conda-meta");
  env.packages = known(read_python_packages(source, env.folders, conda ? env.prefix : std::string(),
                                            condition_values(env, architecture)),
                       env.folders.empty() ? env.prefix : env.folders.front());
  read_frameworks(source, env);
}

} // namespace

void probe_pythons(const Source& source, const ProbeOptions& options, Machine& machine) {
  machine.pythons = find_interpreters(source, options, source.environment());
  if (machine.pythons.empty()) return;
  const std::string architecture = source.system().architecture;
  for (PythonEnv& env : machine.pythons) {
    if (env.folders.empty()) continue;
    // What takes long runs beside the rest, which writes other fields.
    auto trees = std::async(std::launch::async,
                            [&source, executable = env.executable, folders = env.folders] {
                              return trees_of_python(source, executable, folders);
                            });
    read_environment(source, architecture, env);
    auto code = std::async(std::launch::async, [&] { return read_package_code(source, env); });
    auto libraries = python_libraries(source, env);
    read_extensions(source, trees.get(), libraries, env);
    env.code = code.get();
    std::move(libraries.begin(), libraries.end(), std::back_inserter(machine.libraries));
    auto toolkits = python_toolkits(source, env);
    std::move(toolkits.begin(), toolkits.end(), std::back_inserter(machine.toolkits.installed));
    if (options.import_packages) env.imports = import_packages(source, env);
  }
}

} // namespace gpuvet
