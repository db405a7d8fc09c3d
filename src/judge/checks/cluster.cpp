// Checks of Slurm and Kubernetes: what the scheduler gave, and whether the node is set up for it.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

bool in_job(const Machine& machine) {
  return machine.surroundings.slurm_job.count("SLURM_JOB_ID") > 0;
}

std::string slurm_variable(const Machine& machine, const std::string& name) {
  auto at = machine.surroundings.slurm_job.find(name);
  return at == machine.surroundings.slurm_job.end() ? std::string() : at->second;
}

std::string job_evidence(const Machine& machine) {
  return "environment: SLURM_JOB_ID=" + slurm_variable(machine, "SLURM_JOB_ID");
}

// /dev/nvidiaN, without the control nodes.
bool is_gpu_node(const DeviceNode& node) {
  constexpr std::string_view start = "/dev/nvidia";
  return node.path.starts_with(start) && decimal_number(node.path.substr(start.size()));
}

size_t gpu_nodes(const Machine& machine, bool usable) {
  return static_cast<size_t>(std::count_if(
      machine.kernel.nodes.begin(), machine.kernel.nodes.end(), [&](const DeviceNode& node) {
        return is_gpu_node(node) && node.exists && (!usable || node.open_error.value_or(0) == 0);
      }));
}

// --- inside a Slurm job -------------------------------------------------------------------------

Outcome no_dev_files(const Machine& machine, const Facts&) {
  std::string visible = variable(machine, "CUDA_VISIBLE_DEVICES");
  if (visible.empty()) return not_applicable("CUDA_VISIBLE_DEVICES is not set");
  if (visible != "NoDevFiles") return ok("CUDA_VISIBLE_DEVICES=" + visible);
  std::vector<std::string> evidence = {"environment: CUDA_VISIBLE_DEVICES=NoDevFiles"};
  if (in_job(machine)) evidence.push_back(job_evidence(machine));
  return fires(evidence);
}

// Numbers of GPUs, where "0" names the first one; and counts, where it means none.
constexpr std::array<const char*, 2> kGpuNumbers = {"SLURM_JOB_GPUS", "SLURM_STEP_GPUS"};
constexpr std::array<const char*, 4> kGpuCounts = {"SLURM_GPUS", "SLURM_GPUS_ON_NODE",
                                                   "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK"};

Outcome job_without_gpu(const Machine& machine, const Facts&) {
  if (!in_job(machine)) return not_applicable("this is no Slurm job");
  for (const char* name : kGpuNumbers)
    if (std::string value = slurm_variable(machine, name); !value.empty())
      return ok(fmt::format("{}={}", name, value));
  for (const char* name : kGpuCounts)
    if (std::string value = slurm_variable(machine, name); !value.empty() && value != "0")
      return ok(fmt::format("{}={}", name, value));
  if (pci_gpus(machine).empty()) return not_applicable("this node has no GPU");
  if (gpu_nodes(machine, true) > 0) return ok("the GPUs' device nodes can be opened");
  std::vector<std::string> evidence = {job_evidence(machine),
                                       "environment: no SLURM_JOB_GPUS, no SLURM_GPUS_ON_NODE"};
  for (const DeviceNode& node : machine.kernel.nodes)
    if (is_gpu_node(node) && node.exists && node.open_error)
      evidence.push_back(fmt::format("{}: opening gives error {}", node.path, *node.open_error));
  return fires(evidence, {{"job", slurm_variable(machine, "SLURM_JOB_ID")}});
}

Outcome numbers_of_host(const Machine& machine, const Facts&) {
  if (!in_job(machine)) return not_applicable("this is no Slurm job");
  std::string visible = variable(machine, "CUDA_VISIBLE_DEVICES");
  if (visible.empty()) return not_applicable("CUDA_VISIBLE_DEVICES is not set");
  size_t here = gpu_count(machine);
  if (here == 0) return not_known("how many GPUs the job sees is not known (nvidia-smi -L)");
  uint64_t highest = 0;
  std::vector<std::string> own;
  for (const std::string& part : split(visible, ", ")) {
    auto number = decimal_number(part);
    if (!number) return not_applicable("CUDA_VISIBLE_DEVICES does not name numbers");
    highest = std::max(highest, *number);
    own.push_back(fmt::format("{}", own.size()));
  }
  if (highest < here) return ok("the numbers are within what the job sees");
  return fires(
      {job_evidence(machine), "environment: CUDA_VISIBLE_DEVICES=" + visible,
       fmt::format("the job sees {}, numbered from 0", counted(here, "GPU"))},
      {{"visible", visible}, {"count", fmt::format("{}", here)}, {"own", joined(own, ",")}});
}

Outcome job_lacks_gpus(const Machine& machine, const Facts&) {
  if (!in_job(machine)) return not_applicable("this is no Slurm job");
  auto promised = decimal_number(slurm_variable(machine, "SLURM_GPUS_ON_NODE"));
  if (!promised || *promised == 0) return not_applicable("SLURM_GPUS_ON_NODE is not set");
  if (machine.nvml.asked.state != AskState::answered)
    return not_known("NVML did not answer (nvidia-smi)");
  size_t works =
      static_cast<size_t>(std::count_if(machine.nvml.gpus.begin(), machine.nvml.gpus.end(),
                                        [](const NvmlGpu& gpu) { return gpu.error == 0; }));
  if (works >= *promised) return ok(fmt::format("{} promised, {} work", *promised, works));
  return fires({job_evidence(machine), fmt::format("environment: SLURM_GPUS_ON_NODE={}", *promised),
                fmt::format("NVML: {} answer", counted(works, "GPU"))},
               {{"promised", fmt::format("{}", *promised)},
                {"works", fmt::format("{}", works)},
                {"node", slurm_variable(machine, "SLURMD_NODENAME")}});
}

// --- a Slurm node -------------------------------------------------------------------------------

std::optional<Outcome> no_slurm_node(const Machine& machine) {
  if (!machine.surroundings.slurm_node) return not_applicable("this is no Slurm node");
  if (!has_gpu(machine)) return not_applicable("this node has no GPU");
  return std::nullopt;
}

std::string slurm_setting(const Machine& machine, const std::string& name) {
  auto at = machine.surroundings.slurm_settings.find(name);
  return at == machine.surroundings.slurm_settings.end() ? std::string() : at->second;
}

Outcome devices_not_constrained(const Machine& machine, const Facts&) {
  if (auto none = no_slurm_node(machine)) return *none;
  if (machine.surroundings.slurm_settings.empty())
    return not_known("Slurm's settings cannot be read here (scontrol show config)");
  std::string constrain = slurm_setting(machine, "cgroup.conf:ConstrainDevices");
  if (!switched_on(constrain) || lower_ascii(constrain) == "none")
    return fires({fmt::format("cgroup.conf: ConstrainDevices={}",
                              constrain.empty() ? "(not set)" : constrain)},
                 {{"what", "ConstrainDevices is not on"}});
  std::string plugin = slurm_setting(machine, "slurm.conf:TaskPlugin");
  if (!plugin.empty() && plugin.find("cgroup") == std::string::npos)
    return fires({"cgroup.conf: ConstrainDevices=" + constrain, "slurm.conf: TaskPlugin=" + plugin},
                 {{"what", "TaskPlugin has no task/cgroup"}});
  return ok("ConstrainDevices=" + constrain);
}

bool names_gpu(const std::string& line) {
  std::string lower = lower_ascii(line);
  return lower.find("name=gpu") != std::string::npos ||
         lower.find("autodetect=nv") != std::string::npos;
}

Outcome gres_missing(const Machine& machine, const Facts&) {
  if (auto none = no_slurm_node(machine)) return *none;
  const Surroundings& around = machine.surroundings;
  for (const std::string& line : around.gres_lines)
    if (names_gpu(line)) return ok(line);
  std::string types = slurm_setting(machine, "slurm.conf:GresTypes");
  if (around.gres_lines.empty() && around.slurm_settings.empty())
    return not_known("gres.conf cannot be read here (scontrol show node tells Gres)");
  std::vector<std::string> evidence = {around.gres_lines.empty()
                                           ? std::string("gres.conf: absent or empty")
                                           : "gres.conf: no line names gpu"};
  if (!types.empty()) evidence.push_back("slurm.conf: GresTypes=" + types);
  return fires(evidence, {{"count", counted(gpu_count(machine), "GPU")}});
}

// "/dev/nvidia[0-3]" or "/dev/nvidia0,/dev/nvidia1" as single paths.
std::vector<std::string> expanded(std::string_view files) {
  std::vector<std::string> paths;
  size_t open = files.find('['), close = files.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    for (const std::string& path : split_at(files, ','))
      if (!path.empty()) paths.push_back(path);
    return paths;
  }
  std::string head(files.substr(0, open));
  for (const std::string& part : split_at(files.substr(open + 1, close - open - 1), ',')) {
    auto range = key_and_value(part, '-');
    auto first = decimal_number(range ? range->first : part);
    auto last = decimal_number(range ? range->second : part);
    if (!first || !last || *last - *first > 64) continue;
    for (uint64_t i = *first; i <= *last; ++i)
      paths.push_back(fmt::format("{}{}", head, i));
  }
  return paths;
}

Outcome gres_device_missing(const Machine& machine, const Facts&) {
  if (auto none = no_slurm_node(machine)) return *none;
  size_t named = 0;
  std::vector<std::string> missing;
  std::string where;
  for (const std::string& line : machine.surroundings.gres_lines)
    for (const std::string& word : words_of(line)) {
      if (!lower_ascii(word).starts_with("file=/dev/nvidia")) continue;
      for (const std::string& path : expanded(std::string_view(word).substr(5))) {
        ++named;
        auto same = [&](const DeviceNode& node) { return node.path == path && node.exists; };
        if (std::any_of(machine.kernel.nodes.begin(), machine.kernel.nodes.end(), same)) continue;
        missing.push_back(path);
        where = line;
      }
    }
  if (named == 0) return not_applicable("gres.conf names no device files");
  if (missing.empty()) return ok(counted(named, "device file") + " of gres.conf exist");
  return fires({where, "not there: " + joined(missing)}, {{"files", joined(missing)}});
}

Outcome autodetect_without_nvml(const Machine& machine, const Facts&) {
  if (auto none = no_slurm_node(machine)) return *none;
  std::string where;
  for (const std::string& line : machine.surroundings.gres_lines)
    if (lower_ascii(line).find("autodetect=nvml") != std::string::npos) where = line;
  if (where.empty()) return not_applicable("gres.conf has no AutoDetect=nvml");
  const Asked& asked = machine.nvml.asked;
  if (asked.state == AskState::skipped) return not_known("NVML was not asked: " + asked.problem);
  if (asked.state == AskState::answered) return ok("NVML answers");
  return fires({where, asked.state == AskState::no_library
                           ? "dlopen: " + asked.problem
                           : fmt::format("nvmlInit_v2: {} {}", asked.error, asked.error_text)});
}

Outcome outside_of_jobs(const Machine& machine, const Facts&) {
  if (auto none = no_slurm_node(machine)) return *none;
  if (in_job(machine)) return not_applicable("asked inside a job, which sees its own processes");
  if (!machine.processes) return not_known(machine.processes.why_unknown);
  std::vector<std::string> evidence, pids;
  for (const GpuProcess& process : *machine.processes) {
    bool of_job = process.unit.find("job_") != std::string::npos ||
                  process.unit.find("slurmstepd") != std::string::npos;
    if (process.nodes.empty() || of_job || process.unit.ends_with(".service")) continue;
    evidence.push_back(fmt::format("process {} ({}): holds {}, {}", process.pid, process.name,
                                   process.nodes.front(),
                                   process.unit.empty() ? "in no unit" : "in " + process.unit));
    pids.push_back(fmt::format("{}", process.pid));
  }
  if (evidence.empty()) return ok("no process holds a GPU outside of Slurm's jobs");
  return likely(
      fires(evidence, {{"count", fmt::format("{}", pids.size())}, {"pids", joined(pids, " ")}}),
      "whether these processes belong to an ended job; squeue -w $(hostname) and ps -o "
      "user,lstart,cmd -p tell");
}

Outcome cgroup_read_only(const Machine& machine, const Facts&) {
  if (auto none = no_slurm_node(machine)) return *none;
  if (!in_container(machine)) return not_applicable("slurmd does not run in a container");
  if (!machine.surroundings.cgroup_read_only)
    return not_known("how /sys/fs/cgroup is mounted is not known (findmnt /sys/fs/cgroup)");
  if (!*machine.surroundings.cgroup_read_only) return ok("/sys/fs/cgroup can be written");
  return fires({"/sys/fs/cgroup: mounted read-only"});
}

// --- Kubernetes ---------------------------------------------------------------------------------

std::optional<Outcome> no_kubernetes_node(const Machine& machine) {
  if (!machine.surroundings.kubernetes_node) return not_applicable("this is no Kubernetes node");
  if (!has_gpu(machine)) return not_applicable("this node has no GPU");
  return std::nullopt;
}

struct Stage {
  const char *file, *layer;
};
constexpr std::array<Stage, 4> kStages = {{{"driver-ready", "driver"},
                                           {"toolkit-ready", "container toolkit"},
                                           {"cuda-ready", "CUDA test"},
                                           {"plugin-ready", "device plug-in"}}};

Outcome validation_stops(const Machine& machine, const Facts&) {
  if (auto none = no_kubernetes_node(machine)) return *none;
  const std::vector<std::string>& files = machine.container_host.gpu_operator_validations;
  if (files.empty() && machine.container_host.driver_root.empty())
    return not_applicable("no GPU operator has been here (/run/nvidia/validations)");
  std::string reached;
  for (const Stage& stage : kStages) {
    if (std::find(files.begin(), files.end(), stage.file) != files.end()) {
      reached = stage.layer;
      continue;
    }
    std::string seen = files.empty() ? "empty" : joined(files);
    return fires({"/run/nvidia/validations: " + seen, fmt::format("missing: {}", stage.file)},
                 {{"layer", stage.layer},
                  {"file", stage.file},
                  {"reached", reached.empty() ? "nothing" : reached}});
  }
  return ok("all four validations of the GPU operator are there");
}

Outcome runtime_without_nvidia(const Machine& machine, const Facts&) {
  if (auto none = no_kubernetes_node(machine)) return *none;
  const ContainerHost& host = machine.container_host;
  if (host.containerd_configs.empty())
    return not_known("no configuration of containerd was found (containerd config dump)");
  std::vector<std::string> evidence;
  for (const auto& [file, runtime] : host.containerd_nvidia) {
    if (!runtime.empty()) return ok(fmt::format("{} knows the runtime nvidia", file));
    evidence.push_back(file + ": no runtime nvidia");
  }
  if (evidence.empty()) evidence.push_back(host.containerd_configs.front() + ": no runtime nvidia");
  if (!host.cdi.empty())
    return ok(host.cdi.front().file + ": devices come through CDI, which needs no such runtime");
  return fires(evidence, {{"file", host.containerd_configs.front()}});
}

Outcome runtime_not_default(const Machine& machine, const Facts&) {
  if (auto none = no_kubernetes_node(machine)) return *none;
  for (const auto& [file, runtime] : machine.container_host.containerd_nvidia) {
    if (runtime.empty()) continue;
    if (runtime == "nvidia") return ok(file + ": default runtime nvidia");
    return fires({fmt::format("{}: default runtime {}", file, runtime)}, {{"runtime", runtime}});
  }
  return not_applicable("containerd has no runtime nvidia");
}

Outcome driver_in_container(const Machine& machine, const Facts&) {
  if (auto none = no_kubernetes_node(machine)) return *none;
  const std::string& root = machine.container_host.driver_root;
  if (root.empty()) return not_applicable("there is no driver in /run/nvidia/driver");
  if (!machine.driver.resolved_libcuda.empty())
    return ok("the host itself finds " + machine.driver.resolved_libcuda);
  return fires({root + ": a driver's files", "the host's loader finds no libcuda.so.1"},
               {{"root", root}});
}

// The device plug-in does not take these for faults of the GPU.
constexpr std::array<uint32_t, 6> kIgnoredXids = {13, 31, 43, 45, 68, 109};

Outcome plugin_keeps_gpu_off(const Machine& machine, const Facts&) {
  if (auto none = no_kubernetes_node(machine)) return *none;
  if (!machine.kernel.log.lines)
    return not_known("the kernel log cannot be read: " + machine.kernel.log.lines.why_unknown);
  for (const XidEvent& event : machine.kernel.xids) {
    bool ignored =
        std::find(kIgnoredXids.begin(), kIgnoredXids.end(), event.code) != kIgnoredXids.end();
    if (event.sxid || ignored) continue;
    return likely(fires({fmt::format("kernel log: Xid (PCI:{}) {}: {}", event.pci_address,
                                     event.code, event.detail)},
                        {{"xid", fmt::format("{}", event.code)}, {"gpu", event.pci_address}}),
                  "whether the device plug-in ran then; kubectl describe node shows capacity and "
                  "allocatable nvidia.com/gpu");
  }
  return ok("no Xid for which the device plug-in takes a GPU away");
}

Outcome pod_on_cpu_node(const Machine& machine, const Facts&) {
  if (!in_container(machine, ContainerKind::kubernetes))
    return not_applicable("this is no Kubernetes pod");
  if (!machine.kernel.functions) return not_known(machine.kernel.functions.why_unknown);
  if (!pci_gpus(machine).empty()) return ok("this node has GPUs");
  const std::string& visible = machine.surroundings.nvidia_visible_devices;
  bool wanted = !visible.empty() && visible != "void" && visible != "none";
  if (!wanted) return not_applicable("this pod asks for no GPU");
  return fires({machine.kernel.functions.source + ": no GPU of NVIDIA",
                "environment: NVIDIA_VISIBLE_DEVICES=" + visible});
}

Outcome pod_asked_no_gpu(const Machine& machine, const Facts&) {
  if (!in_container(machine, ContainerKind::kubernetes))
    return not_applicable("this is no Kubernetes pod");
  if (!machine.kernel.functions) return not_known(machine.kernel.functions.why_unknown);
  if (pci_gpus(machine).empty()) return not_applicable("this node has no GPU");
  if (gpu_nodes(machine, false) > 0) return ok("the pod has GPU device nodes");
  const std::string& visible = machine.surroundings.nvidia_visible_devices;
  if (!visible.empty() && visible != "void" && visible != "none" && visible != "all")
    return not_applicable("GPUs were asked for: NVIDIA_VISIBLE_DEVICES=" + visible);
  return fires(
      {fmt::format("{}: {} on this node", machine.kernel.functions.source,
                   counted(pci_gpus(machine).size(), "GPU")),
       "/dev: no /dev/nvidia0 in this pod",
       "environment: NVIDIA_VISIBLE_DEVICES=" + (visible.empty() ? "(not set)" : visible)});
}

} // namespace

CheckList cluster_checks() {
  return {{"slurm-no-dev-files", no_dev_files},
          {"slurm-job-without-gpu", job_without_gpu},
          {"slurm-numbers-of-host", numbers_of_host},
          {"slurm-job-lacks-gpus", job_lacks_gpus},
          {"slurm-devices-not-constrained", devices_not_constrained},
          {"slurm-gres-missing", gres_missing},
          {"slurm-gres-device-missing", gres_device_missing},
          {"slurm-autodetect-without-nvml", autodetect_without_nvml},
          {"slurm-process-outside-jobs", outside_of_jobs},
          {"slurm-cgroup-read-only", cgroup_read_only},
          {"k8s-validation-stops", validation_stops},
          {"k8s-runtime-without-nvidia", runtime_without_nvidia},
          {"k8s-runtime-not-default", runtime_not_default},
          {"k8s-driver-in-container", driver_in_container},
          {"k8s-plugin-keeps-gpu-off", plugin_keeps_gpu_off},
          {"k8s-pod-on-cpu-node", pod_on_cpu_node},
          {"k8s-pod-asked-no-gpu", pod_asked_no_gpu}};
}

} // namespace gpuvet
