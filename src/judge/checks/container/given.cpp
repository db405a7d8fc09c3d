// Checks inside a container: what it was given of the GPU.
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr int kEperm = 1, kEacces = 13; // errno

Outcome not_here() {
  return not_applicable("this is no container");
}
bool outside(const Machine& machine) {
  return !in_container(machine);
}
bool node_there(const Machine& machine, std::string_view path) {
  return node_at(machine, path) != nullptr;
}

bool has_capability(std::string_view list, std::string_view name) {
  std::vector<std::string> words = split(list, ", ");
  return std::find(words.begin(), words.end(), name) != words.end() ||
         std::find(words.begin(), words.end(), "all") != words.end();
}

// --- given nothing -------------------------------------------------------------------------------

// No node and no library of the driver, though the host has it loaded.
std::optional<Outcome> given_something(const Machine& machine) {
  if (outside(machine)) return not_here();
  if (machine.surroundings.wsl || machine.surroundings.jetson)
    return not_applicable("GPUs come another way into containers here");
  if (in_container(machine, ContainerKind::singularity))
    return not_applicable("Singularity has a check of its own");
  if (machine.kernel.nodes.empty()) return not_known("/dev could not be looked at");
  if (node_there(machine, "/dev/nvidiactl")) return ok("/dev/nvidiactl is there");
  if (!machine.kernel.module_version && !module_loaded(machine, "nvidia"))
    return not_applicable("the host has no NVIDIA driver loaded");
  return std::nullopt;
}

Outcome no_gpu_given(const Machine& machine, const Facts&) {
  if (auto answer = given_something(machine)) return *answer;
  Outcome outcome = fires({"/dev/nvidiactl: not there"});
  if (machine.kernel.module_version)
    outcome.evidence.push_back(fmt::format("{}: {} (the host's)",
                                           machine.kernel.module_version.source,
                                           *machine.kernel.module_version));
  const std::string& visible = machine.surroundings.nvidia_visible_devices;
  outcome.evidence.push_back("NVIDIA_VISIBLE_DEVICES: " + (visible.empty() ? "not set" : visible));
  outcome.fields["driver"] = machine.kernel.module_version.value.value_or("of the host");
  return outcome;
}

Outcome visible_void(const Machine& machine, const Facts&) {
  if (auto answer = given_something(machine)) return *answer;
  const std::string& visible = machine.surroundings.nvidia_visible_devices;
  bool set = machine.environment.count("NVIDIA_VISIBLE_DEVICES") > 0 || !visible.empty();
  if (!set) return not_applicable("NVIDIA_VISIBLE_DEVICES is not set");
  if (visible != "void" && visible != "none" && !visible.empty())
    return ok("NVIDIA_VISIBLE_DEVICES names devices");
  return fires({"environment: NVIDIA_VISIBLE_DEVICES=" + visible, "/dev/nvidiactl: not there"},
               {{"value", visible.empty() ? "\"\"" : visible}});
}

Outcome singularity(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  if (!in_container(machine, ContainerKind::singularity)) return not_applicable("not Singularity");
  if (std::optional<Picked> picked = picked_libcuda(machine)) return ok(picked->path);
  if (!machine.kernel.module_version) return not_applicable("the host has no NVIDIA driver loaded");
  return fires(
      {"libcuda.so.1: not found", fmt::format("{}: {}", machine.kernel.module_version.source,
                                              *machine.kernel.module_version)});
}

// --- capabilities --------------------------------------------------------------------------------

Outcome no_compute(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  if (std::optional<Picked> picked = picked_libcuda(machine); picked && !picked->stub)
    return ok(picked->path);
  if (!node_there(machine, "/dev/nvidiactl")) return not_applicable("no GPU was given");
  const std::string& list = machine.surroundings.nvidia_driver_capabilities;
  if (has_capability(list, "compute")) return not_applicable("compute was asked for");
  Outcome outcome = fires({"NVIDIA_DRIVER_CAPABILITIES: " + (list.empty() ? "not set" : list),
                           "libcuda.so.1: not found"},
                          {{"list", list.empty() ? "not set" : list},
                           {"wanted", list.empty() ? "compute,utility" : list + ",compute"}});
  if (std::optional<Picked> nvml = picked_nvml(machine))
    outcome.evidence.push_back("libnvidia-ml.so.1: " + nvml->path);
  if (!list.empty()) return outcome;
  return likely(std::move(outcome), "which capabilities the runtime gave (they are not set here)");
}

Outcome no_utility(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  if (std::optional<Picked> picked = picked_nvml(machine)) return ok(picked->path);
  if (!node_there(machine, "/dev/nvidiactl")) return not_applicable("no GPU was given");
  const std::string& list = machine.surroundings.nvidia_driver_capabilities;
  if (list.empty() || has_capability(list, "utility"))
    return not_applicable("utility was not left out");
  return fires({"NVIDIA_DRIVER_CAPABILITIES: " + list, "libnvidia-ml.so.1: not found"},
               {{"list", list}, {"wanted", list + ",utility"}});
}

// --- nodes ---------------------------------------------------------------------------------------

Outcome uvm_missing(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  if (machine.kernel.nodes.empty()) return not_known("/dev could not be looked at");
  if (!node_there(machine, "/dev/nvidiactl")) return not_applicable("no GPU was given");
  if (node_there(machine, "/dev/nvidia-uvm")) return ok("/dev/nvidia-uvm is there");
  Outcome outcome = fires({"/dev/nvidiactl: is there", "/dev/nvidia-uvm: not there"});
  bool loaded = module_loaded(machine, "nvidia_uvm");
  if (machine.kernel.modules)
    outcome.evidence.push_back(loaded ? "/proc/modules: nvidia_uvm (on the host)"
                                      : "/proc/modules: no nvidia_uvm (on the host)");
  return outcome;
}

Outcome uvm_major(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  const DeviceNode* node = node_at(machine, "/dev/nvidia-uvm");
  if (!node) return not_applicable("/dev/nvidia-uvm is not there");
  const auto& majors = machine.kernel.char_majors;
  if (!majors) return not_known(majors.why_unknown);
  auto at = majors->find("nvidia-uvm");
  if (at == majors->end()) return not_known("/proc/devices has no nvidia-uvm");
  if (at->second == node->major) return ok(fmt::format("its major number is {}", node->major));
  Outcome outcome =
      fires({fmt::format("/dev/nvidia-uvm: {}, {}", node->major, node->minor),
             fmt::format("{}: {} nvidia-uvm", majors.source, at->second)},
            {{"old", fmt::format("{}", node->major)}, {"major", fmt::format("{}", at->second)}});
  return outcome;
}

std::vector<const DeviceNode*> refused(const Machine& machine, int error) {
  std::vector<const DeviceNode*> nodes;
  for (const DeviceNode& node : machine.kernel.nodes)
    if (node.exists && node.open_error && *node.open_error == error) nodes.push_back(&node);
  return nodes;
}

Outcome cgroup_denied(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  if (machine.kernel.nodes.empty()) return not_known("/dev could not be looked at");
  std::vector<const DeviceNode*> nodes = refused(machine, kEperm);
  if (nodes.empty()) return ok("no node is denied");
  std::vector<std::string> evidence;
  for (const DeviceNode* node : nodes)
    evidence.push_back(fmt::format("open({}): EPERM, mode {:o}", node->path, node->mode));
  Outcome outcome = fires(std::move(evidence), {{"node", nodes.front()->path}});
  return outcome;
}

Outcome selinux(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  std::vector<const DeviceNode*> nodes = refused(machine, kEacces);
  if (nodes.empty()) return ok("no node is refused");
  const Observed<bool>& enforcing = machine.kernel.selinux_enforcing;
  if (!enforcing) return not_known("whether SELinux is enforcing: " + enforcing.why_unknown);
  if (!*enforcing) return not_applicable("SELinux is not enforcing");
  bool for_all = (nodes.front()->mode & 0006U) == 0006U;
  if (!for_all) return not_applicable("the node's mode keeps others off");
  return fires(
      {fmt::format("open({}): EACCES, mode {:o}", nodes.front()->path, nodes.front()->mode),
       enforcing.source + ": enforcing"},
      {{"node", nodes.front()->path}});
}

Outcome groups_lost(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  std::vector<const DeviceNode*> nodes = refused(machine, kEacces);
  if (nodes.empty()) return ok("no node is refused");
  if (!machine.surroundings.user_namespace)
    return not_known("whether users are mapped: " +
                     machine.surroundings.user_namespace.why_unknown);
  if (!*machine.surroundings.user_namespace) return not_applicable("users are not mapped here");
  bool by_group = (nodes.front()->mode & 0006U) != 0006U;
  if (!by_group) return not_applicable("the node's mode lets everybody in");
  return fires({fmt::format("open({}): EACCES, mode {:o}, group {}", nodes.front()->path,
                            nodes.front()->mode, nodes.front()->gid),
                machine.surroundings.user_namespace.source + ": users are mapped"},
               {{"node", nodes.front()->path}});
}

} // namespace

CheckList container_checks() {
  return {{"container-no-gpu-given", no_gpu_given},
          {"container-visible-devices-void", visible_void},
          {"container-singularity-without-nv", singularity},
          {"container-without-compute", no_compute},
          {"container-without-utility", no_utility},
          {"container-uvm-missing", uvm_missing},
          {"container-uvm-major", uvm_major},
          {"container-cgroup-denied", cgroup_denied},
          {"container-selinux", selinux},
          {"container-groups-lost", groups_lost}};
}

} // namespace gpuvet
