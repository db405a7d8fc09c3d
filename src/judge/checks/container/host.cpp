// Checks of a host's container runtimes: the container toolkit, Docker, containerd.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/container/parts.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

Outcome toolkit_missing(const Machine& machine, const Facts&) {
  if (auto answer = no_runtime(machine)) return *answer;
  if (machine.surroundings.wsl) return not_applicable("Docker Desktop brings its own");
  if (has_toolkit(machine)) return ok("the container toolkit is installed");
  if (!machine.container_host.driver_root.empty())
    return not_applicable("the GPU operator brings it: " + machine.container_host.driver_root);
  const ContainerHost& host = machine.container_host;
  std::string runtime = host.docker ? "docker" : host.podman ? "podman" : "containerd";
  return fires({runtime + ": is installed", "nvidia-ctk, nvidia-container-runtime-hook: not found"},
               {{"runtime", runtime}});
}

// --- docker --------------------------------------------------------------------------------------

std::optional<Outcome> no_docker(const Machine& machine) {
  if (auto answer = no_runtime(machine)) return answer;
  if (!machine.container_host.docker) return not_applicable("Docker is not here");
  return std::nullopt;
}

Outcome docker_config_broken(const Machine& machine, const Facts&) {
  if (auto answer = no_docker(machine)) return *answer;
  const ContainerHost& host = machine.container_host;
  if (!host.docker_config)
    return host.docker_config_file.empty() ? ok("Docker has no settings file")
                                           : not_known(host.docker_config.why_unknown);
  if (host.docker_knows_nvidia) return ok(host.docker_config_file + " is in order");
  return fires({host.docker_problem}, {{"file", host.docker_config_file}});
}

Outcome docker_runtime_gone(const Machine& machine, const Facts&) {
  if (auto answer = no_docker(machine)) return *answer;
  const ContainerHost& host = machine.container_host;
  if (!host.docker_config && !host.docker_config_file.empty())
    return not_known(host.docker_config.why_unknown);
  if (!host.docker_knows_nvidia.value_or(false))
    return not_applicable("Docker's settings name no NVIDIA runtime");
  if (host.docker_problem.empty()) return ok(host.docker_runtime_path + " is there");
  Outcome outcome = fires({host.docker_problem},
                          {{"file", host.docker_config_file}, {"path", host.docker_runtime_path}});
  if (host.docker_default_runtime == "nvidia") {
    outcome.evidence.push_back(host.docker_config_file + ": default-runtime is nvidia");
    outcome.fields["who"] = "no container starts";
  } else {
    outcome.fields["who"] = "containers with --runtime=nvidia do not start";
  }
  return outcome;
}

Outcome docker_not_configured(const Machine& machine, const Facts&) {
  if (auto answer = no_docker(machine)) return *answer;
  if (!has_toolkit(machine)) return not_applicable("the container toolkit is not installed");
  const ContainerHost& host = machine.container_host;
  if (!host.docker_knows_nvidia)
    return not_known(host.docker_config ? host.docker_problem : host.docker_config.why_unknown);
  if (*host.docker_knows_nvidia) return ok(host.docker_config_file + " names the NVIDIA runtime");
  std::string file = host.docker_config_file.empty() ? "/etc/docker/daemon.json (not there)"
                                                     : host.docker_config_file;
  return fires({file + ": no runtimes.nvidia"}, {{"file", file}});
}

Outcome docker_snap(const Machine& machine, const Facts&) {
  if (auto answer = no_docker(machine)) return *answer;
  if (!machine.container_host.docker_snap) return ok("Docker is no snap");
  return fires({"/snap/docker: is there"});
}

const std::string kNoCgroups = "nvidia-container-cli.no-cgroups";

std::string runtime_setting(const Machine& machine, const std::string& key) {
  auto at = machine.container_host.runtime_config.find(key);
  return at == machine.container_host.runtime_config.end() ? std::string() : at->second;
}

Outcome no_cgroups(const Machine& machine, const Facts&) {
  if (auto answer = no_docker(machine)) return *answer;
  if (runtime_setting(machine, kNoCgroups) != "true") return ok("no-cgroups is off");
  if (machine.container_host.docker_rootless)
    return not_applicable("rootless Docker needs no-cgroups");
  return fires(
      {"/etc/nvidia-container-runtime/config.toml: no-cgroups = true", "docker: run by root"});
}

Outcome rootless_cgroups(const Machine& machine, const Facts&) {
  if (auto answer = no_docker(machine)) return *answer;
  if (!machine.container_host.docker_rootless) return not_applicable("Docker is run by root");
  if (!has_toolkit(machine)) return not_applicable("the container toolkit is not installed");
  if (runtime_setting(machine, kNoCgroups) == "true") return ok("no-cgroups is on");
  std::string value = runtime_setting(machine, kNoCgroups);
  return fires({"/etc/nvidia-container-runtime/config.toml: no-cgroups " +
                    (value.empty() ? std::string("not set") : "= " + value),
                "docker: rootless"});
}

Outcome mode_cdi(const Machine& machine, const Facts&) {
  if (auto answer = no_docker(machine)) return *answer;
  std::string mode = runtime_setting(machine, "nvidia-container-runtime.mode");
  if (mode != "cdi") return ok("mode is " + (mode.empty() ? "not set" : mode));
  return fires({"/etc/nvidia-container-runtime/config.toml: mode = \"cdi\""});
}

// --- containerd ----------------------------------------------------------------------------------

// The file that containerd reads: k3s and its like start one of their own, with settings of their
// own; else the first, which the running daemon was told.
std::string containerd_config(const ContainerHost& host) {
  for (const std::string& file : host.containerd_configs)
    for (std::string_view part : {"/rancher/", "/microk8s/", "/k0s/"})
      if (file.find(part) != std::string::npos) return file;
  return host.containerd_configs.front();
}

Outcome containerd_unset(const Machine& machine, const Facts&) {
  if (auto answer = no_runtime(machine)) return *answer;
  const ContainerHost& host = machine.container_host;
  if (!machine.surroundings.kubernetes_node) return not_applicable("this is no Kubernetes node");
  if (host.containerd_configs.empty()) return not_known("which settings containerd reads");
  std::string used = containerd_config(host);
  std::string elsewhere;
  for (const auto& [file, by_default] : host.containerd_nvidia) {
    if (by_default.empty()) continue;
    // Folders of further settings, which the main file includes, and templates count.
    if (folder_of(file).starts_with(folder_of(used))) return ok(file + " names the NVIDIA runtime");
    elsewhere = file;
  }
  Outcome outcome = fires({used + ": no runtime nvidia"}, {{"used", used}});
  if (elsewhere.empty()) {
    if (!has_toolkit(machine)) return not_applicable("the container toolkit is not installed");
    outcome.fields["where"] = "";
  } else {
    outcome.evidence.push_back(elsewhere + ": has runtime nvidia");
    outcome.fields["where"] = "; it is set in " + elsewhere + ", which is not read";
  }
  return outcome;
}

// --- the toolkit and what it needs ---------------------------------------------------------------

Outcome not_in_cache(const Machine& machine, const Facts&) {
  if (auto answer = no_runtime(machine)) return *answer;
  if (!has_toolkit(machine)) return not_applicable("the container toolkit is not installed");
  if (machine.surroundings.wsl || !machine.container_host.driver_root.empty())
    return not_applicable("the driver lies elsewhere here");
  if (!machine.kernel.module_version) return not_applicable("the driver is not loaded");
  const auto& names = machine.loader.cache_sonames;
  if (!names) return not_known(names.why_unknown);
  for (const char* name : {"libnvidia-ml.so.1", "libcuda.so.1"})
    if (std::find(names->begin(), names->end(), name) == names->end())
      return fires({fmt::format("{}: no {}", names.source, name)}, {{"name", name}});
  return ok("the loader's cache has the driver's libraries");
}

Outcome no_char_links(const Machine& machine, const Facts&) {
  if (auto answer = no_docker(machine)) return *answer;
  if (!has_toolkit(machine)) return not_applicable("the container toolkit is not installed");
  const std::optional<bool>& links = machine.kernel.dev_char_links;
  if (!links) return not_known("whether /dev/char has links for the GPUs' nodes (ls /dev/char)");
  if (*links) return ok("/dev/char has links for the GPUs' nodes");
  bool cgroupfs = machine.container_host.docker_config &&
                  machine.container_host.docker_config->find("native.cgroupdriver=cgroupfs") !=
                      std::string::npos;
  if (cgroupfs) return not_applicable("Docker does not hand its control groups to systemd");
  return fires({"/dev/char/195:*: not there"});
}

Outcome vulnerable(const Machine& machine, const Facts&) {
  if (auto answer = no_runtime(machine)) return *answer;
  if (!has_toolkit(machine)) return not_applicable("the container toolkit is not installed");
  std::string text = toolkit_version(machine);
  std::optional<Version> version = parse_version(text);
  if (!version) return not_known("the toolkit's version (nvidia-ctk --version)");
  if (*version >= Version{{1, 17, 8}}) return ok("toolkit " + text);
  return fires({"nvidia-container-toolkit: " + text}, {{"version", text}});
}

Outcome legacy_packages(const Machine& machine, const Facts&) {
  if (auto answer = no_runtime(machine)) return *answer;
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  std::vector<std::string> names;
  for (const Package* package :
       packages_with(machine, {"nvidia-docker", "nvidia-container-runtime"}))
    names.push_back(package->name);
  if (names.empty()) return ok("no packages of earlier years");
  return fires({machine.packages.relevant.source + ": " + joined(names)},
               {{"packages", joined(names, " ")}});
}

// apt refuses a repository that two lists sign with different keys.
Outcome repository_twice(const Machine& machine, const Facts&) {
  if (in_container(machine)) return not_applicable("this is a container");
  std::map<std::string, const Packages::Repository*> seen;
  for (const Packages::Repository& repository : machine.packages.repositories) {
    if (repository.url.find("libnvidia-container") == std::string::npos) continue;
    auto [at, added] = seen.emplace(repository.url, &repository);
    if (added || at->second->signed_by == repository.signed_by) continue;
    return fires({fmt::format("{}: {} signed-by {}", at->second->file, repository.url,
                              at->second->signed_by),
                  fmt::format("{}: signed-by {}", repository.file, repository.signed_by)},
                 {{"file", at->second->file.substr(0, at->second->file.rfind(':'))},
                  {"other", repository.file.substr(0, repository.file.rfind(':'))}});
  }
  return seen.empty() ? not_applicable("the container toolkit's repository is not set up")
                      : ok("the repository is set up once");
}

Outcome selinux(const Machine& machine, const Facts&) {
  if (auto answer = no_runtime(machine)) return *answer;
  if (!has_toolkit(machine)) return not_applicable("the container toolkit is not installed");
  const Observed<bool>& enforcing = machine.kernel.selinux_enforcing;
  if (!enforcing) return not_known("whether SELinux is enforcing: " + enforcing.why_unknown);
  if (!*enforcing) return ok("SELinux is not enforcing");
  if (!machine.container_host.podman) return not_applicable("Docker seldom confines by SELinux");
  return fires({enforcing.source + ": enforcing"});
}

} // namespace

CheckList container_host_checks() {
  return {{"container-host-toolkit-missing", toolkit_missing},
          {"container-host-docker-config-broken", docker_config_broken},
          {"container-host-docker-runtime-gone", docker_runtime_gone},
          {"container-host-docker-not-configured", docker_not_configured},
          {"container-host-docker-snap", docker_snap},
          {"container-host-no-cgroups", no_cgroups},
          {"container-host-rootless-cgroups", rootless_cgroups},
          {"container-host-mode-cdi", mode_cdi},
          {"container-host-containerd-unset", containerd_unset},
          {"container-host-not-in-cache", not_in_cache},
          {"container-host-no-char-links", no_char_links},
          {"container-host-toolkit-vulnerable", vulnerable},
          {"container-host-legacy-packages", legacy_packages},
          {"container-host-repository-twice", repository_twice},
          {"container-host-selinux", selinux}};
}

} // namespace gpuvet
