// Checks of CDI specifications, by which container runtimes hand GPUs to containers.
#include "judge/checks/common.hpp"
#include "judge/checks/container/parts.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

std::optional<Outcome> no_cdi(const Machine& machine) {
  if (auto answer = no_runtime(machine)) return answer;
  if (machine.container_host.cdi.empty())
    return not_applicable("there is no CDI specification of NVIDIA's");
  return std::nullopt;
}

// Specifications that can't be read leave a question open, unless another fails it.
Outcome when_read(const Machine& machine, std::string fine) {
  for (const ContainerHost::Cdi& cdi : machine.container_host.cdi)
    if (!cdi.problem.empty())
      return not_known(fmt::format("{} could not be read: {}", cdi.file, cdi.problem));
  return ok(std::move(fine));
}

Outcome cdi_missing(const Machine& machine, const Facts&) {
  if (auto answer = no_runtime(machine)) return *answer;
  if (!machine.container_host.podman) return not_applicable("Podman is not here");
  if (!has_toolkit(machine)) return not_applicable("the container toolkit is not installed");
  for (const ContainerHost::Cdi& cdi : machine.container_host.cdi)
    if (cdi.kind == "nvidia.com/gpu" || !cdi.problem.empty()) return ok(cdi.file);
  return fires({"/etc/cdi, /var/run/cdi: no specification of nvidia.com/gpu"});
}

Outcome cdi_paths(const Machine& machine, const Facts&) {
  if (auto answer = no_cdi(machine)) return *answer;
  for (const ContainerHost::Cdi& cdi : machine.container_host.cdi) {
    if (cdi.missing_paths.empty()) continue;
    std::vector<std::string> evidence;
    for (size_t i = 0; i < std::min<size_t>(cdi.missing_paths.size(), 3); ++i)
      evidence.push_back(fmt::format("{}: {} (not there)", cdi.file, cdi.missing_paths[i]));
    return fires(std::move(evidence), {{"file", cdi.file},
                                       {"path", cdi.missing_paths.front()},
                                       {"count", counted(cdi.missing_paths.size(), "file")}});
  }
  return when_read(machine, "all files that the specifications name are there");
}

Outcome cdi_driver(const Machine& machine, const Facts&) {
  if (auto answer = no_cdi(machine)) return *answer;
  const Observed<std::string>& module = machine.kernel.module_version;
  if (!module) return not_known("the driver's version: " + module.why_unknown);
  for (const ContainerHost::Cdi& cdi : machine.container_host.cdi)
    if (!cdi.driver_version.empty() && cdi.driver_version != *module)
      return fires({fmt::format("{}: libcuda.so.{}", cdi.file, cdi.driver_version),
                    fmt::format("{}: {}", module.source, *module)},
                   {{"file", cdi.file}, {"old", cdi.driver_version}, {"driver", *module}});
  return when_read(machine, "the specifications are of this driver");
}

Outcome cdi_majors(const Machine& machine, const Facts&) {
  if (auto answer = no_cdi(machine)) return *answer;
  const auto& majors = machine.kernel.char_majors;
  if (!majors) return not_known(majors.why_unknown);
  auto uvm = majors->find("nvidia-uvm");
  if (uvm == majors->end()) return not_known("/proc/devices has no nvidia-uvm");
  for (const ContainerHost::Cdi& cdi : machine.container_host.cdi)
    for (const auto& [node, major] : cdi.node_majors)
      if (node.starts_with("/dev/nvidia-uvm") && major != uvm->second && major != 0)
        return fires({fmt::format("{}: {} has major {}", cdi.file, node, major),
                      fmt::format("{}: {} nvidia-uvm", majors.source, uvm->second)},
                     {{"file", cdi.file},
                      {"old", fmt::format("{}", major)},
                      {"major", fmt::format("{}", uvm->second)}});
  return when_read(machine, "the specifications have the kernel's numbers");
}

Outcome cdi_twice(const Machine& machine, const Facts&) {
  if (auto answer = no_cdi(machine)) return *answer;
  std::map<std::string, std::string> seen; // folder, kind and device -> file
  for (const ContainerHost::Cdi& cdi : machine.container_host.cdi)
    for (const std::string& device : cdi.devices) {
      std::string key = fmt::format("{} {}={}", folder_of(cdi.file), cdi.kind, device);
      auto [at, added] = seen.emplace(key, cdi.file);
      if (added || at->second == cdi.file) continue;
      return fires(
          {fmt::format("{}: {}={}", at->second, cdi.kind, device),
           fmt::format("{}: {}={}", cdi.file, cdi.kind, device)},
          {{"device", cdi.kind + "=" + device}, {"file", cdi.file}, {"other", at->second}});
    }
  return when_read(machine, "each device is named in one file of a folder");
}

// --- generating one ------------------------------------------------------------------------------

// libnvidia-sandboxutils of the driver's branch 565 is broken. The toolkit asks it from 1.17.0 on;
// from 1.17.5 until 1.18 it does not.
bool asks_sandboxutils(const Version& toolkit) {
  return toolkit >= Version{{1, 18}} ||
         (toolkit >= Version{{1, 17}} && toolkit < Version{{1, 17, 5}});
}

Outcome cdi_sandbox(const Machine& machine, const Facts&) {
  if (auto answer = no_runtime(machine)) return *answer;
  if (!has_toolkit(machine)) return not_applicable("the container toolkit is not installed");
  std::optional<Version> driver = driver_version(machine);
  if (!driver) return not_known("the driver's version");
  if (driver->major() != 565) return not_applicable("the driver is not of branch 565");
  const std::string text = toolkit_version(machine);
  std::optional<Version> toolkit = parse_version(text);
  if (!toolkit) return not_known("the container toolkit's version (nvidia-ctk --version)");
  if (!asks_sandboxutils(*toolkit)) return ok("toolkit " + text + " does not ask sandboxutils");
  for (const ContainerHost::Cdi& cdi : machine.container_host.cdi)
    if (parse_version(cdi.driver_version) == driver)
      return ok(cdi.file + " was written for this driver");
  Outcome outcome = fires({"nvidia-container-toolkit: " + text, "driver: " + to_string(*driver)},
                          {{"toolkit", text}, {"driver", to_string(*driver)}});
  if (*toolkit >= Version{{1, 18}}) outcome.fields["flag"] = "disable-nvsandboxutils";
  return likely(std::move(outcome),
                "whether a specification is asked for: nvidia-ctk cdi generate");
}

} // namespace

CheckList cdi_checks() {
  return {{"container-host-cdi-missing", cdi_missing}, {"container-host-cdi-paths", cdi_paths},
          {"container-host-cdi-driver", cdi_driver},   {"container-host-cdi-majors", cdi_majors},
          {"container-host-cdi-twice", cdi_twice},     {"container-host-cdi-sandbox", cdi_sandbox}};
}

} // namespace gpuvet
