// Slurm and Kubernetes.
#include "judge/checks/testing/rows.hpp"

namespace gpuvet::testing {
namespace {

Machine job(uint32_t gpus) {
  Machine machine = with_driver("580.65.06", gpus, "10de:2330", "NVIDIA H100 80GB HBM3", 90);
  machine.surroundings.slurm_job = {{"SLURM_JOB_ID", "4711"}, {"SLURMD_NODENAME", "node7"}};
  return machine;
}

void deny(Machine& machine) {
  for (DeviceNode& each : machine.kernel.nodes)
    if (each.path.ends_with("0") || each.path.ends_with("1")) each.open_error = 1;
}

TEST(Slurm, NoDeviceFiles) {
  EXPECT_TRUE(is_none("slurm-no-dev-files", job(1)));
  Machine machine = job(1);
  machine.environment["CUDA_VISIBLE_DEVICES"] = "0";
  EXPECT_TRUE(is_ok("slurm-no-dev-files", machine));
  machine.environment["CUDA_VISIBLE_DEVICES"] = "NoDevFiles";
  EXPECT_TRUE(fires("slurm-no-dev-files", machine));
}

TEST(Slurm, JobThatAskedForNone) {
  EXPECT_TRUE(is_none("slurm-job-without-gpu", healthy_h100()));
  Machine machine = job(2);
  EXPECT_TRUE(is_ok("slurm-job-without-gpu", machine)); // the nodes open: nothing is constrained
  deny(machine);
  EXPECT_TRUE(fires("slurm-job-without-gpu", machine));
  machine.surroundings.slurm_job["SLURM_JOB_GPUS"] = "0";
  EXPECT_TRUE(is_ok("slurm-job-without-gpu", machine));
}

TEST(Slurm, NumbersOfTheHost) {
  Machine machine = job(2);
  EXPECT_TRUE(is_none("slurm-numbers-of-host", machine));
  machine.environment["CUDA_VISIBLE_DEVICES"] = "0,1";
  EXPECT_TRUE(is_ok("slurm-numbers-of-host", machine));
  machine.environment["CUDA_VISIBLE_DEVICES"] = "4,5";
  EXPECT_TRUE(fires("slurm-numbers-of-host", machine));
  EXPECT_EQ(ask("slurm-numbers-of-host", machine).fields["own"], "0,1");
  machine.environment["CUDA_VISIBLE_DEVICES"] = "GPU-1234";
  EXPECT_TRUE(is_none("slurm-numbers-of-host", machine));
  machine.environment["CUDA_VISIBLE_DEVICES"] = "4";
  machine.nvml = {};
  machine.kernel.functions = unknown<std::vector<PciFunction>>("/sys is hidden");
  EXPECT_TRUE(is_unknown("slurm-numbers-of-host", machine));
}

TEST(Slurm, FewerGpusThanPromised) {
  Machine machine = job(4);
  EXPECT_TRUE(is_none("slurm-job-lacks-gpus", machine));
  machine.surroundings.slurm_job["SLURM_GPUS_ON_NODE"] = "4";
  EXPECT_TRUE(is_ok("slurm-job-lacks-gpus", machine));
  machine.nvml.gpus[3].error = 15;
  EXPECT_TRUE(fires("slurm-job-lacks-gpus", machine));
  machine.nvml.asked.state = AskState::failed;
  EXPECT_TRUE(is_unknown("slurm-job-lacks-gpus", machine));
}

Machine slurm_node() {
  Machine machine = healthy_h100();
  machine.surroundings.slurm_node = true;
  machine.surroundings.slurm_settings = {{"cgroup.conf:ConstrainDevices", "yes"},
                                         {"slurm.conf:TaskPlugin", "task/affinity,task/cgroup"},
                                         {"slurm.conf:GresTypes", "gpu"}};
  machine.surroundings.gres_lines = {"/etc/slurm/gres.conf:1: Name=gpu File=/dev/nvidia[0-7]"};
  return machine;
}

TEST(Slurm, NodeWithoutSlurmOrGpu) {
  for (const char* id :
       {"slurm-devices-not-constrained", "slurm-gres-missing", "slurm-gres-device-missing",
        "slurm-autodetect-without-nvml", "slurm-process-outside-jobs", "slurm-cgroup-read-only"}) {
    EXPECT_TRUE(is_none(id, healthy_h100()));
    Machine machine = no_gpu();
    machine.surroundings.slurm_node = true;
    EXPECT_TRUE(is_none(id, machine));
  }
}

TEST(Slurm, DevicesThatAreNotConstrained) {
  Machine machine = slurm_node();
  EXPECT_TRUE(is_ok("slurm-devices-not-constrained", machine));
  machine.surroundings.slurm_settings["slurm.conf:TaskPlugin"] = "task/affinity";
  EXPECT_TRUE(fires("slurm-devices-not-constrained", machine));
  machine.surroundings.slurm_settings = {{"slurm.conf:GresTypes", "gpu"}};
  EXPECT_TRUE(fires("slurm-devices-not-constrained", machine));
  machine.surroundings.slurm_settings.clear();
  EXPECT_TRUE(is_unknown("slurm-devices-not-constrained", machine));
}

TEST(Slurm, GresThatKnowsNoGpu) {
  Machine machine = slurm_node();
  EXPECT_TRUE(is_ok("slurm-gres-missing", machine));
  machine.surroundings.gres_lines = {"/etc/slurm/gres.conf:1: Name=tmp Count=1"};
  EXPECT_TRUE(fires("slurm-gres-missing", machine));
  machine.surroundings.gres_lines.clear();
  machine.surroundings.slurm_settings.clear();
  EXPECT_TRUE(is_unknown("slurm-gres-missing", machine));
}

TEST(Slurm, GresNamesFilesThatAreNotThere) {
  Machine machine = slurm_node();
  EXPECT_TRUE(is_ok("slurm-gres-device-missing", machine));
  node(machine, "/dev/nvidia5").exists = false;
  EXPECT_TRUE(fires("slurm-gres-device-missing", machine));
  EXPECT_EQ(ask("slurm-gres-device-missing", machine).fields["files"], "/dev/nvidia5");
  machine.surroundings.gres_lines = {"gres.conf:1: AutoDetect=nvml"};
  EXPECT_TRUE(is_none("slurm-gres-device-missing", machine));
}

TEST(Slurm, AutodetectNeedsNvml) {
  Machine machine = slurm_node();
  EXPECT_TRUE(is_none("slurm-autodetect-without-nvml", machine));
  machine.surroundings.gres_lines = {"gres.conf:1: AutoDetect=nvml"};
  EXPECT_TRUE(is_ok("slurm-autodetect-without-nvml", machine));
  machine.nvml.asked.state = AskState::no_library;
  machine.nvml.asked.problem = "libnvidia-ml.so.1: cannot open";
  EXPECT_TRUE(fires("slurm-autodetect-without-nvml", machine));
  machine.nvml.asked.state = AskState::skipped;
  EXPECT_TRUE(is_unknown("slurm-autodetect-without-nvml", machine));
}

TEST(Slurm, ProcessesOutsideOfJobs) {
  Machine machine = slurm_node();
  EXPECT_TRUE(is_ok("slurm-process-outside-jobs", machine));
  GpuProcess process;
  process.pid = 99;
  process.name = "python";
  process.nodes = {"/dev/nvidia0"};
  process.unit = "session-3.scope";
  machine.processes.value->push_back(process);
  EXPECT_TRUE(fires("slurm-process-outside-jobs", machine));
  EXPECT_FALSE(ask("slurm-process-outside-jobs", machine).missing.empty());
  machine.processes.value->at(0).unit = "slurmstepd.scope/job_12/step_0";
  EXPECT_TRUE(is_ok("slurm-process-outside-jobs", machine));
  machine.processes = unknown<std::vector<GpuProcess>>("/proc is hidden");
  EXPECT_TRUE(is_unknown("slurm-process-outside-jobs", machine));
}

TEST(Slurm, SlurmdInAContainer) {
  Machine machine = slurm_node();
  EXPECT_TRUE(is_none("slurm-cgroup-read-only", machine));
  machine.surroundings.container = known(ContainerKind::kubernetes, "/proc/1/cgroup");
  EXPECT_TRUE(is_unknown("slurm-cgroup-read-only", machine));
  machine.surroundings.cgroup_read_only = false;
  EXPECT_TRUE(is_ok("slurm-cgroup-read-only", machine));
  machine.surroundings.cgroup_read_only = true;
  EXPECT_TRUE(fires("slurm-cgroup-read-only", machine));
}

Machine kubernetes_node() {
  Machine machine = healthy_h100();
  machine.surroundings.kubernetes_node = true;
  return machine;
}

TEST(Kubernetes, ElsewhereNothingApplies) {
  for (const char* id : {"k8s-validation-stops", "k8s-runtime-without-nvidia",
                         "k8s-runtime-not-default", "k8s-driver-in-container",
                         "k8s-plugin-keeps-gpu-off", "k8s-pod-on-cpu-node", "k8s-pod-asked-no-gpu"})
    EXPECT_TRUE(is_none(id, healthy_h100()));
}

TEST(Kubernetes, ValidationsOfTheOperator) {
  Machine machine = kubernetes_node();
  EXPECT_TRUE(is_none("k8s-validation-stops", machine));
  machine.container_host.gpu_operator_validations = {"cuda-ready", "driver-ready", "plugin-ready",
                                                     "toolkit-ready"};
  EXPECT_TRUE(is_ok("k8s-validation-stops", machine));
  machine.container_host.gpu_operator_validations = {"driver-ready"};
  EXPECT_TRUE(fires("k8s-validation-stops", machine));
  EXPECT_EQ(ask("k8s-validation-stops", machine).fields["file"], "toolkit-ready");
}

TEST(Kubernetes, RuntimeOfContainerd) {
  Machine machine = kubernetes_node();
  EXPECT_TRUE(is_unknown("k8s-runtime-without-nvidia", machine));
  machine.container_host.containerd_configs = {"/etc/containerd/config.toml"};
  machine.container_host.containerd_nvidia = {{"/etc/containerd/config.toml", ""}};
  EXPECT_TRUE(fires("k8s-runtime-without-nvidia", machine));
  EXPECT_TRUE(is_none("k8s-runtime-not-default", machine));
  machine.container_host.cdi.emplace_back();
  EXPECT_TRUE(is_ok("k8s-runtime-without-nvidia", machine));
  machine.container_host.containerd_nvidia["/etc/containerd/config.toml"] = "runc";
  EXPECT_TRUE(is_ok("k8s-runtime-without-nvidia", machine));
  EXPECT_TRUE(fires("k8s-runtime-not-default", machine));
  machine.container_host.containerd_nvidia["/etc/containerd/config.toml"] = "nvidia";
  EXPECT_TRUE(is_ok("k8s-runtime-not-default", machine));
}

TEST(Kubernetes, DriverInAContainer) {
  Machine machine = kubernetes_node();
  EXPECT_TRUE(is_none("k8s-driver-in-container", machine));
  machine.container_host.driver_root = "/run/nvidia/driver";
  EXPECT_TRUE(is_ok("k8s-driver-in-container", machine));
  machine.driver.resolved_libcuda.clear();
  EXPECT_TRUE(fires("k8s-driver-in-container", machine));
}

TEST(Kubernetes, PluginAfterAnXid) {
  Machine machine = kubernetes_node();
  EXPECT_TRUE(is_ok("k8s-plugin-keeps-gpu-off", machine));
  XidEvent event;
  event.code = 31; // a program's fault, which the plug-in ignores
  event.pci_address = "0000:10:00";
  machine.kernel.xids = {event};
  EXPECT_TRUE(is_ok("k8s-plugin-keeps-gpu-off", machine));
  machine.kernel.xids[0].code = 79;
  EXPECT_TRUE(fires("k8s-plugin-keeps-gpu-off", machine));
  machine.kernel.log.lines = unknown<std::vector<LogLine>>("/dev/kmsg: permission denied");
  EXPECT_TRUE(is_unknown("k8s-plugin-keeps-gpu-off", machine));
}

TEST(Kubernetes, PodsWithoutGpu) {
  Machine machine = container();
  machine.surroundings.container = known(ContainerKind::kubernetes, "/proc/1/cgroup");
  EXPECT_TRUE(is_ok("k8s-pod-on-cpu-node", machine));
  EXPECT_TRUE(is_ok("k8s-pod-asked-no-gpu", machine));
  node(machine, "/dev/nvidia0").exists = false;
  machine.surroundings.nvidia_visible_devices = "void";
  EXPECT_TRUE(fires("k8s-pod-asked-no-gpu", machine));
  machine.kernel.functions = known<std::vector<PciFunction>>({}, "/sys/bus/pci/devices");
  EXPECT_TRUE(is_none("k8s-pod-asked-no-gpu", machine));
  EXPECT_TRUE(is_none("k8s-pod-on-cpu-node", machine)); // asks for none
  machine.surroundings.nvidia_visible_devices = "all";
  EXPECT_TRUE(fires("k8s-pod-on-cpu-node", machine));
  machine.kernel.functions = unknown<std::vector<PciFunction>>("/sys is hidden");
  EXPECT_TRUE(is_unknown("k8s-pod-on-cpu-node", machine));
  EXPECT_TRUE(is_unknown("k8s-pod-asked-no-gpu", machine));
}

} // namespace
} // namespace gpuvet::testing
