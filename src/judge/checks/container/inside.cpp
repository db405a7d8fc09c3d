// Checks inside a container: driver libraries of the image, what it asks for, limits, kinds of
// containers.

#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/rules/require_cuda.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

Outcome not_here() {
  return not_applicable("this is no container");
}
bool outside(const Machine& machine) {
  return !in_container(machine);
}

// --- libraries of the image and of the host ------------------------------------------------------

// Packages of an image that bring the driver's libraries.
std::vector<const Package*> driver_packages(const Machine& machine) {
  return packages_with(machine, {"libnvidia-compute-", "nvidia-driver-5", "nvidia-driver-libs",
                                 "nvidia-driver-cuda-libs", "libcuda1", "libnvidia-ml1",
                                 "xorg-x11-drv-nvidia", "nvidia-utils"});
}

Outcome driver_in_image(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  std::vector<const Package*> packages = driver_packages(machine);
  if (packages.empty()) return ok("the image brings no driver");
  Outcome outcome =
      fires({fmt::format("{}: {} {}", machine.packages.relevant.source, packages.front()->name,
                         packages.front()->version)},
            {{"package", packages.front()->name}, {"version", packages.front()->version}});
  const Observed<std::string>& module = machine.kernel.module_version;
  const Observed<std::string>& user = machine.driver.user_version;
  if (module && user && *module != *user) {
    outcome.evidence.push_back(fmt::format("{}: {} (the host's)", module.source, *module));
    outcome.evidence.push_back(fmt::format("{}: {}", user.source, *user));
    outcome.severity = Severity::blocker;
  }
  return outcome;
}

Outcome old_libraries(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  const Observed<std::string>& module = machine.kernel.module_version;
  const Observed<std::string>& user = machine.driver.user_version;
  if (!module) return not_known(module.why_unknown);
  if (!user) return not_applicable("no driver library is here");
  if (*module == *user) return ok("both are of " + *user);
  if (!driver_packages(machine).empty())
    return not_applicable("the image brings a driver of its own");
  Outcome outcome = fires({fmt::format("{}: {} (the host's)", module.source, *module),
                           fmt::format("{}: {}", user.source, *user)},
                          {{"module", *module}, {"user", *user}});
  return outcome;
}

Outcome leftovers(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  std::vector<std::string> evidence;
  bool sizes = false;
  for (const auto* list :
       {&machine.driver.libcuda, &machine.driver.libnvidia_ml, &machine.driver.ptxjitcompiler})
    for (const LibraryFile& file : *list) {
      sizes = sizes || file.size > 0;
      if (file.size == 0 && file.path == file.real_path)
        evidence.push_back(file.path + ": 0 bytes");
    }
  if (!sizes || evidence.empty()) return ok("no empty driver files");
  std::string first = evidence.front().substr(0, evidence.front().find(':'));
  return fires(std::move(evidence), {{"path", first}});
}

Outcome requirement(const Machine& machine, const Facts& facts) {
  if (outside(machine)) return not_here();
  const std::string& wanted = machine.surroundings.nvidia_require_cuda;
  if (wanted.empty()) return not_applicable("the image asks nothing of the driver");
  Properties properties;
  properties.driver = driver_version(machine);
  properties.cuda = driver_cuda(machine, facts);
  for (const NvmlGpu& gpu : machine.nvml.gpus) {
    if (gpu.capability) properties.arch = Version{{*gpu.capability / 10, *gpu.capability % 10}};
    for (char c : lower_ascii(gpu.brand))
      if (c != ' ' && properties.brand.size() < 40) properties.brand += c;
    break;
  }
  RequirementAnswer answer = judge_requirement(wanted, properties);
  if (answer.state == RequirementState::met) return ok("the driver is what the image asks for");
  if (answer.state == RequirementState::not_known)
    return not_known("the driver's CUDA version or the GPU's brand is not known");
  std::string cuda = properties.cuda ? to_string(*properties.cuda) : "unknown";
  return fires(
      {"environment: NVIDIA_REQUIRE_CUDA=" + wanted.substr(0, 120),
       fmt::format("driver {}: CUDA {}",
                   machine.kernel.module_version.value.value_or(machine.nvml.driver_version),
                   cuda)},
      {{"wanted", answer.cuda.empty() ? "a newer version" : answer.cuda},
       {"cuda", cuda},
       {"driver", machine.kernel.module_version.value.value_or(machine.nvml.driver_version)}});
}

// --- limits --------------------------------------------------------------------------------------

Outcome small_shm(const Machine& machine, const Facts&) {
  constexpr uint64_t kEnough = 1ULL << 30U;
  if (outside(machine)) return not_here();
  const Observed<uint64_t>& size = machine.surroundings.shm_bytes;
  if (!size) return not_known("the size of /dev/shm: " + size.why_unknown);
  if (*size >= kEnough) return ok("/dev/shm has " + human_bytes(*size));
  std::string text = fmt::format("{} MiB", *size >> 20U); // as Docker and df count
  Outcome outcome = fires({fmt::format("{}: {} in all", size.source, text)}, {{"size", text}});
  if (gpu_count(machine) < 2) outcome.severity = Severity::info;
  return outcome;
}

Outcome full_shm(const Machine& machine, const Facts&) {
  constexpr uint64_t kLittle = 64ULL << 20U;
  const Observed<uint64_t>& size = machine.surroundings.shm_bytes;
  const Observed<uint64_t>& free = machine.surroundings.shm_free_bytes;
  if (!size || !free) return not_known("how full /dev/shm is (df -h /dev/shm)");
  bool full = *free < kLittle && *free < *size / 4;
  if (!full) return ok(fmt::format("{} of {} are free", human_bytes(*free), human_bytes(*size)));
  Outcome outcome =
      fires({fmt::format("{}: {} of {} free", size.source, human_bytes(*free), human_bytes(*size))},
            {{"free", human_bytes(*free)}, {"size", human_bytes(*size)}});
  if (machine.surroundings.shm_nccl_files.value_or(0) > 0)
    outcome.evidence.push_back(
        fmt::format("/dev/shm/nccl-*: {}", counted(*machine.surroundings.shm_nccl_files, "file")));
  return outcome;
}

Outcome oom_kills(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  if (!machine.surroundings.oom_kills) return not_known("memory.events of the cgroup");
  if (*machine.surroundings.oom_kills == 0) return ok("nothing was killed for lack of memory");
  Outcome outcome = fires(
      {fmt::format("memory.events of the cgroup: oom_kill {}", *machine.surroundings.oom_kills)},
      {{"count", fmt::format("{}", *machine.surroundings.oom_kills)}, {"limit", "its limit"}});
  if (machine.surroundings.memory_max_bytes && *machine.surroundings.memory_max_bytes != UINT64_MAX)
    outcome.fields["limit"] = human_bytes(*machine.surroundings.memory_max_bytes);
  return outcome;
}

// --- kinds ---------------------------------------------------------------------------------------

Outcome gvisor(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  if (!in_container(machine, ContainerKind::gvisor)) return not_applicable("not gVisor");
  return fires({machine.surroundings.container.source + ": gVisor"});
}

Outcome pid_namespace(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  const Observed<bool>& own = machine.surroundings.own_pid_namespace;
  if (!own) return not_known("whether processes have numbers of their own: " + own.why_unknown);
  if (!*own) return ok("processes have the host's numbers");
  if (machine.nvml.asked.state != AskState::answered) return not_applicable("NVML did not answer");
  return fires({own.source + ": a PID namespace of its own"});
}

Outcome mig_nodes(const Machine& machine, const Facts&) {
  if (outside(machine)) return not_here();
  if (machine.surroundings.nvidia_visible_devices.find("MIG-") == std::string::npos)
    return not_applicable("no MIG device was asked for");
  bool any = std::any_of(machine.kernel.nodes.begin(), machine.kernel.nodes.end(),
                         [](const DeviceNode& node) {
                           return node.exists && node.path.starts_with("/dev/nvidia-caps/");
                         });
  if (any) return ok("/dev/nvidia-caps/* are there");
  return fires(
      {"environment: NVIDIA_VISIBLE_DEVICES=" + machine.surroundings.nvidia_visible_devices,
       "/dev/nvidia-caps/*: none"});
}

} // namespace

CheckList container_image_checks() {
  return {{"container-driver-in-image", driver_in_image},
          {"container-old-libraries", old_libraries},
          {"container-leftover-driver-files", leftovers},
          {"container-requirement", requirement},
          {"container-small-shm", small_shm},
          {"container-full-shm", full_shm},
          {"container-oom-kills", oom_kills},
          {"container-gvisor", gvisor},
          {"container-pid-namespace", pid_namespace},
          {"container-mig-nodes", mig_nodes}};
}

} // namespace gpuvet
