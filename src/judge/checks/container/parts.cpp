#include "judge/checks/container/parts.hpp"

#include "judge/checks/common.hpp"

namespace gpuvet {

std::optional<Outcome> no_runtime(const Machine& machine) {
  if (in_container(machine)) return not_applicable("this is a container");
  const ContainerHost& host = machine.container_host;
  if (!host.docker && !host.podman && host.containerd_configs.empty())
    return not_applicable("no container runtime is here");
  if (!has_gpu(machine)) return not_applicable("there is no GPU");
  return std::nullopt;
}

bool has_toolkit(const Machine& machine) {
  return machine.container_host.toolkit || !machine.container_host.runtime_files.empty() ||
         !packages_with(machine, {"nvidia-container-toolkit"}).empty();
}

std::string toolkit_version(const Machine& machine) {
  if (machine.container_host.toolkit) return *machine.container_host.toolkit;
  std::vector<const Package*> packages = packages_with(machine, {"nvidia-container-toolkit"});
  return packages.empty() ? std::string() : packages.front()->version;
}

} // namespace gpuvet
