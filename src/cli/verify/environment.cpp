#include "cli/verify/environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gpuvet {
namespace {

// The library itself, not its parts: "libcudnn.so.9", not "libcudnn_ops.so.9".
bool is_library(const std::string& path, std::string_view stem) {
  std::string_view name(path);
  name.remove_prefix(name.find_last_of('/') + 1);
  return name.starts_with(stem) && name.substr(stem.size()).starts_with(".so");
}

std::string find_library(const Machine& machine, const std::string& folder, std::string_view stem) {
  for (const CudaLibrary& library : machine.libraries)
    if (library.python == folder && !library.file.stub && is_library(library.file.path, stem))
      return library.file.path;
  return {};
}

std::string find_library(const Machine& machine, std::string_view stem) {
  for (const PythonEnv& env : machine.pythons)
    for (const std::string& folder : env.folders)
      if (auto found = find_library(machine, folder, stem); !found.empty()) return found;
  return find_library(machine, "", stem);
}

// Distributions that bring a module, as their names begin.
struct Bringer {
  const char* module;
  std::array<std::string_view, 2> names;
};

constexpr Bringer kBringers[] = {{"torch", {"torch", ""}},
                                 {"tensorflow", {"tensorflow", "tf-nightly"}},
                                 {"jax", {"jax", ""}},
                                 {"cupy", {"cupy", "cupy-cuda"}}};

bool brings(const PythonPackage& package, const Bringer& bringer) {
  const std::string_view first = bringer.names[0], prefix = bringer.names[1];
  if (package.name == first) return true;
  return !prefix.empty() && std::string_view(package.name).starts_with(prefix);
}

} // namespace

std::string host_kind(const Machine& machine) {
  const Surroundings& around = machine.surroundings;
  if (around.wsl) return "wsl2";
  if (around.hypervisor && *around.hypervisor != "none") return "virtual machine";
  if (around.container && *around.container != ContainerKind::none) return "container";
  if (!around.hypervisor || !around.container) return "unknown";
  return "bare metal";
}

LibraryFiles library_files(const Machine& machine) {
  return {find_library(machine, "libcublasLt"), find_library(machine, "libcudnn"),
          find_library(machine, "libnccl")};
}

FrameworkGroups framework_groups(const Machine& machine, uint64_t seed, bool quick) {
  FrameworkGroups groups;
  for (const PythonEnv& env : machine.pythons) {
    if (!env.packages || env.executable.empty()) continue;
    std::vector<FrameworkRequest> requests;
    for (const Bringer& bringer : kBringers) {
      const bool has = std::any_of(env.packages->begin(), env.packages->end(),
                                   [&](const auto& package) { return brings(package, bringer); });
      if (!has) continue;
      FrameworkRequest request;
      request.python = env.executable;
      request.framework = bringer.module;
      request.seed = seed;
      request.quick = quick;
      requests.push_back(std::move(request));
    }
    if (!requests.empty()) groups.push_back(std::move(requests));
  }
  return groups;
}

} // namespace gpuvet
