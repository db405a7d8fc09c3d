// Checks of /dev/nvidia*: nodes, majors, permissions, and who may open them.
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace gpuvet {
namespace {

constexpr int kNotPermitted = 1, kAccess = 13; // EPERM, EACCES

std::string mode_text(const DeviceNode& node) {
  return fmt::format("{}: mode {:04o}, owner {}:{}", node.path, node.mode & 07777U, node.uid,
                     node.gid);
}

std::optional<uint32_t> gpu_minor(std::string_view path) {
  constexpr std::string_view start = "/dev/nvidia";
  if (!path.starts_with(start)) return std::nullopt;
  path.remove_prefix(start.size());
  uint32_t minor = 0;
  auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), minor);
  if (error != std::errc() || end != path.data() + path.size()) return std::nullopt;
  return minor;
}

// Whether the nodes can be judged: the module is loaded, and /dev could be looked at.
std::optional<Outcome> not_asked(const Machine& machine) {
  const Surroundings& around = machine.surroundings;
  if (around.wsl) return not_applicable("under WSL the node is /dev/dxg");
  if (around.jetson) return not_applicable("Jetson has other nodes");
  if (!machine.kernel.modules)
    return not_known("which modules are loaded: " + machine.kernel.modules.why_unknown);
  if (!module_loaded(machine, "nvidia")) return not_applicable("the nvidia module is not loaded");
  if (machine.kernel.nodes.empty()) return not_known("/dev could not be looked at");
  return std::nullopt;
}

// A container that was not given GPUs on purpose.
bool gpus_not_wanted(const Machine& machine) {
  const std::string& visible = machine.surroundings.nvidia_visible_devices;
  return in_container(machine) && (visible.empty() || visible == "void" || visible == "none");
}

Outcome control_missing(const Machine& machine, const Facts&) {
  if (auto answer = not_asked(machine)) return *answer;
  if (node_at(machine, "/dev/nvidiactl")) return ok("/dev/nvidiactl is there");
  std::vector<std::string> evidence{"/proc/modules: nvidia is loaded", "/dev/nvidiactl: not there"};
  auto managed = machine.kernel.proc_params.find("ModifyDeviceFiles");
  if (managed != machine.kernel.proc_params.end() && managed->second == "0")
    evidence.emplace_back("/proc/driver/nvidia/params: ModifyDeviceFiles: 0");
  if (in_container(machine))
    evidence.push_back("NVIDIA_VISIBLE_DEVICES: " +
                       (machine.surroundings.nvidia_visible_devices.empty()
                            ? std::string("not set")
                            : machine.surroundings.nvidia_visible_devices));
  return fires(std::move(evidence));
}

// GPUs that the driver has and that have no node here.
Outcome gpu_node_missing(const Machine& machine, const Facts&) {
  if (auto answer = not_asked(machine)) return *answer;
  if (!node_at(machine, "/dev/nvidiactl"))
    return not_applicable("/dev/nvidiactl is missing as well");
  if (in_container(machine)) return not_applicable("a container may be given some GPUs only");
  std::vector<std::string> evidence;
  std::string missing;
  bool told = false;
  for (const auto& [address, information] : machine.kernel.proc_gpu_information) {
    auto minor = information.find("Device Minor");
    if (minor == information.end()) continue;
    told = true;
    std::string path = "/dev/nvidia" + minor->second;
    if (node_at(machine, path)) continue;
    evidence.push_back(fmt::format("/proc/driver/nvidia/gpus/{}/information: Device Minor: {}",
                                   address, minor->second));
    evidence.push_back(path + ": not there");
    missing += (missing.empty() ? "" : ", ") + path;
  }
  if (!evidence.empty()) return fires(std::move(evidence), {{"nodes", missing}});
  if (!told && machine.kernel.proc_gpu_information.empty())
    return not_known("the driver's list of GPUs: " + machine.kernel.proc_gpus.why_unknown);
  return ok("every GPU has its node");
}

Outcome uvm_node_missing(const Machine& machine, const Facts&) {
  if (auto answer = not_asked(machine)) return *answer;
  if (!node_at(machine, "/dev/nvidiactl"))
    return not_applicable("/dev/nvidiactl is missing as well");
  if (node_at(machine, "/dev/nvidia-uvm")) return ok("/dev/nvidia-uvm is there");
  if (!module_loaded(machine, "nvidia_uvm")) return not_applicable("nvidia_uvm is not loaded");
  if (gpus_not_wanted(machine)) return not_applicable("this container was given no GPU");
  std::vector<std::string> evidence{"/proc/modules: nvidia_uvm is loaded",
                                    "/dev/nvidia-uvm: not there"};
  if (machine.cuda.asked.state == AskState::failed)
    evidence.push_back(fmt::format("cuInit: {}", machine.cuda.asked.error));
  return fires(std::move(evidence));
}

// A node that was made for another boot or another load of the module.
Outcome stale_major(const Machine& machine, const Facts&) {
  if (auto answer = not_asked(machine)) return *answer;
  if (!machine.kernel.char_majors) return not_known(machine.kernel.char_majors.why_unknown);
  const std::map<std::string, uint32_t>& majors = *machine.kernel.char_majors;
  auto expected = [&](const DeviceNode& node) -> std::optional<uint32_t> {
    bool caps = node.path.starts_with("/dev/nvidia-caps/");
    for (const char* name : {"nvidia-uvm", "nvidia-caps", "nvidia-caps-imex-channels"}) {
      std::string path = "/dev/" + std::string(name);
      bool mine = node.path == path || node.path == path + "-tools" ||
                  (caps && path == "/dev/nvidia-caps") || node.path.starts_with(path + "/");
      if (auto at = majors.find(name); mine && at != majors.end()) return at->second;
    }
    return std::nullopt;
  };
  for (const DeviceNode& node : machine.kernel.nodes) {
    std::optional<uint32_t> major = expected(node);
    if (!node.exists || !node.character || !major || *major == node.major) continue;
    return fires({fmt::format("{}: major {}", node.path, node.major),
                  fmt::format("{}: {}", machine.kernel.char_majors.source, *major)},
                 {{"node", node.path},
                  {"old", fmt::format("{}", node.major)},
                  {"major", fmt::format("{}", *major)},
                  {"minor", fmt::format("{}", node.minor)}});
  }
  return ok("the nodes have the kernel's majors");
}

// Docker and others make an empty file where a bind mount's source was missing.
Outcome not_a_device(const Machine& machine, const Facts&) {
  if (machine.kernel.nodes.empty()) return not_known("/dev could not be looked at");
  for (const DeviceNode& node : machine.kernel.nodes) {
    bool folder = node.path == "/dev/nvidia-caps" || node.path == "/dev/nvidia-caps-imex-channels";
    if (node.exists && !node.character && !folder && node.path.starts_with("/dev/nvidia"))
      return fires({node.path + ": not a character device"}, {{"node", node.path}});
  }
  return ok("all are character devices");
}

const DeviceNode* refused(const Machine& machine, int error) {
  for (const DeviceNode& node : machine.kernel.nodes)
    if (node.exists && node.open_error && *node.open_error == error &&
        !node.path.starts_with("/dev/nvidia-caps"))
      return &node;
  return nullptr;
}

Outcome not_my_group(const Machine& machine, const Facts&) {
  if (auto answer = not_asked(machine)) return *answer;
  if (!machine.system.user) return not_known("who is asking: " + machine.system.user.why_unknown);
  const DeviceNode* node = refused(machine, kAccess);
  if (!node) {
    bool tried = std::any_of(machine.kernel.nodes.begin(), machine.kernel.nodes.end(),
                             [](const DeviceNode& n) { return n.open_error.has_value(); });
    return tried ? ok("this user may open the nodes")
                 : not_known("whether this user may open the nodes: ls -l /dev/nvidia*");
  }
  std::string groups;
  for (uint64_t group : machine.system.groups)
    groups += fmt::format("{}{}", groups.empty() ? "" : ", ", group);
  std::vector<std::string> evidence{
      fmt::format("open({}): permission denied", node->path), mode_text(*node),
      fmt::format("user {}: groups {}", *machine.system.user, groups)};
  for (const char* name : {"DeviceFileMode", "DeviceFileGID"})
    if (auto at = machine.kernel.proc_params.find(name); at != machine.kernel.proc_params.end())
      evidence.push_back(fmt::format("/proc/driver/nvidia/params: {}: {}", name, at->second));
  std::map<std::string, std::string> fields{{"node", node->path}};
  bool group_may = (node->mode & 060U) == 060U && node->gid != 0;
  if (group_may) fields["group"] = fmt::format("{}", node->gid);
  return fires(std::move(evidence), std::move(fields));
}

// EPERM on a node whose mode allows it: the device cgroup of a unit or a job says no.
Outcome denied_by_cgroup(const Machine& machine, const Facts&) {
  if (in_container(machine)) return not_applicable("containers have checks of their own for this");
  if (auto answer = not_asked(machine)) return *answer;
  const DeviceNode* node = refused(machine, kNotPermitted);
  if (!node) return ok("no node is refused by a device cgroup");
  std::vector<std::string> evidence{
      fmt::format("open({}): operation not permitted (EPERM)", node->path), mode_text(*node)};
  if (!machine.surroundings.slurm_job.empty())
    evidence.emplace_back("environment: this is a Slurm job, which hides GPUs it was not given");
  return fires(std::move(evidence), {{"node", node->path}});
}

bool allows_nvidia(const std::map<std::string, std::string>& settings) {
  auto allow = settings.find("DeviceAllow");
  return allow != settings.end() && allow->second.find("nvidia") != std::string::npos;
}

// Services that their unit file keeps away from the GPUs.
Outcome unit_denies(const Machine& machine, const Facts&) {
  if (in_container(machine)) return not_applicable("services run on the host");
  if (machine.services.empty()) return not_known("no unit files were found");
  std::vector<std::string> evidence;
  std::string units;
  for (const ServiceUnit& unit : machine.services) {
    auto has = [&](const char* name, std::string_view value) {
      auto at = unit.settings.find(name);
      return at != unit.settings.end() && at->second == value;
    };
    bool denies = has("PrivateDevices", "yes") || has("PrivateDevices", "true") ||
                  has("DevicePolicy", "closed") || has("DevicePolicy", "strict");
    if (!denies || allows_nvidia(unit.settings)) continue;
    for (const char* name : {"PrivateDevices", "DevicePolicy", "DeviceAllow"})
      if (auto at = unit.settings.find(name); at != unit.settings.end())
        evidence.push_back(fmt::format("{}: {}={}", unit.file, name, at->second));
    units += (units.empty() ? "" : ", ") + unit.name;
  }
  if (evidence.empty()) return ok("no unit keeps the GPUs away");
  return fires(std::move(evidence), {{"units", units}});
}

// 550.40 renamed the character device: rules that name the old one no longer match.
Outcome old_device_name(const Machine& machine, const Facts&) {
  if (auto answer = not_asked(machine)) return *answer;
  if (!machine.kernel.char_majors) return not_known(machine.kernel.char_majors.why_unknown);
  if (machine.kernel.char_majors->count("nvidia-frontend") > 0)
    return not_applicable("the driver uses the old name");
  std::vector<std::string> evidence;
  for (const ServiceUnit& unit : machine.services)
    if (auto at = unit.settings.find("DeviceAllow"); at != unit.settings.end())
      if (at->second.find("nvidia-frontend") != std::string::npos &&
          at->second.find("char-nvidia ") == std::string::npos)
        evidence.push_back(fmt::format("{}: DeviceAllow={}", unit.file, at->second));
  if (evidence.empty()) return ok("no unit names nvidia-frontend");
  evidence.push_back(machine.kernel.char_majors.source + ": nvidia, no nvidia-frontend");
  return fires(std::move(evidence));
}

// Nodes of GPUs that are not there: they hold up whoever opens all of them.
Outcome stale_gpu_node(const Machine& machine, const Facts&) {
  if (auto answer = not_asked(machine)) return *answer;
  if (in_container(machine))
    return not_applicable("the nodes of a container are those of its host");
  if (!machine.kernel.proc_gpus) return not_known(machine.kernel.proc_gpus.why_unknown);
  std::vector<std::string> minors;
  for (const auto& [address, information] : machine.kernel.proc_gpu_information)
    if (auto at = information.find("Device Minor"); at != information.end())
      minors.push_back(at->second);
  if (minors.empty()) return not_known("the driver does not tell the minors of its GPUs");
  std::vector<std::string> evidence;
  std::string stale;
  for (const DeviceNode& node : machine.kernel.nodes) {
    std::optional<uint32_t> minor = gpu_minor(node.path);
    if (!node.exists || !minor) continue;
    if (std::find(minors.begin(), minors.end(), std::to_string(*minor)) != minors.end()) continue;
    evidence.push_back(node.path + ": no GPU has this minor");
    stale += (stale.empty() ? "" : " ") + node.path;
  }
  if (evidence.empty()) return ok("every node has its GPU");
  return fires(std::move(evidence), {{"nodes", stale}});
}

// MIG instances are opened through nodes of their own.
Outcome mig_node_missing(const Machine& machine, const Facts&) {
  if (auto answer = not_asked(machine)) return *answer;
  bool mig = std::any_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(),
                         [](const NvmlGpu& gpu) { return gpu.mig && *gpu.mig; });
  if (!mig) return not_applicable("no GPU is in MIG mode");
  if (in_container(machine)) return not_applicable("a container may be given some instances only");
  for (const DriverCapability& capability : machine.kernel.capabilities) {
    if (!capability.minor || capability.name.find("/mig/gi") == std::string::npos) continue;
    std::string path = fmt::format("/dev/nvidia-caps/nvidia-cap{}", *capability.minor);
    const DeviceNode* node = node_at(machine, path);
    std::string told = fmt::format("/proc/driver/nvidia/capabilities/{}: DeviceFileMinor: {}",
                                   capability.name, *capability.minor);
    if (!node) return fires({told, path + ": not there"}, {{"node", path}});
    if (node->open_error && *node->open_error == kAccess)
      return fires({told, fmt::format("access({}): permission denied", path), mode_text(*node)},
                   {{"node", path}});
  }
  return ok("every instance has its node");
}

size_t gpus_named(const std::string& list) {
  return split(list, ",").size();
}

// The job was given fewer GPUs than it can open: CUDA_VISIBLE_DEVICES alone keeps nobody out.
Outcome not_isolated(const Machine& machine, const Facts&) {
  const std::map<std::string, std::string>& job = machine.surroundings.slurm_job;
  if (job.empty()) return not_applicable("this is not a job of a scheduler");
  auto given = job.find("SLURM_JOB_GPUS");
  if (given == job.end()) given = job.find("SLURM_STEP_GPUS");
  if (given == job.end()) return not_known("how many GPUs the job was given: SLURM_JOB_GPUS");
  std::vector<std::string> evidence;
  for (const DeviceNode& node : machine.kernel.nodes)
    if (gpu_minor(node.path) && node.exists && node.open_error && *node.open_error == 0)
      evidence.push_back(fmt::format("access({}): allowed", node.path));
  if (evidence.size() <= gpus_named(given->second))
    return ok(fmt::format("the job may open {}", counted(evidence.size(), "GPU")));
  std::string open = counted(evidence.size(), "GPU");
  evidence.push_back(fmt::format("environment: {}={}", given->first, given->second));
  return fires(std::move(evidence),
               {{"open", open}, {"given", counted(gpus_named(given->second), "GPU")}});
}

// /dev/nvidia3 need not be GPU 3 of nvidia-smi: rules that give out nodes by number go wrong.
Outcome minors_differ(const Machine& machine, const Facts&) {
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer: " + machine.nvml.asked.problem);
  std::vector<std::string> evidence;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.minor && *gpu.minor != gpu.index)
      evidence.push_back(
          nvml_evidence("nvmlDeviceGetMinorNumber", gpu, fmt::format("/dev/nvidia{}", *gpu.minor)));
  if (in_container(machine)) return not_applicable("a container may be given some GPUs only");
  if (evidence.empty()) return ok("node numbers are those of nvidia-smi");
  return fires(std::move(evidence));
}

} // namespace

CheckList device_checks() {
  return {
      {"device-nodes-missing", control_missing},     {"gpu-node-missing", gpu_node_missing},
      {"uvm-node-missing", uvm_node_missing},        {"device-node-major-stale", stale_major},
      {"device-node-is-a-file", not_a_device},       {"device-node-permission", not_my_group},
      {"device-denied-by-cgroup", denied_by_cgroup}, {"unit-denies-devices", unit_denies},
      {"unit-names-old-device", old_device_name},    {"device-node-without-gpu", stale_gpu_node},
      {"mig-node-missing", mig_node_missing},        {"gpus-not-isolated", not_isolated},
      {"device-minors-differ", minors_differ},
  };
}

} // namespace gpuvet
