// WSL, Jetson, clouds and virtual GPUs.
#include "judge/checks/testing/rows.hpp"

namespace gpuvet::testing {
namespace {

Machine wsl() {
  Machine machine = healthy_desktop_4090();
  machine.surroundings.wsl = true;
  machine.surroundings.dxg_node = true;
  machine.surroundings.wsl_libraries = {"libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1"};
  machine.system.kernel_release = known<std::string>("5.15.167.4-microsoft-standard-WSL2", "uname");
  machine.kernel.functions = known<std::vector<PciFunction>>({}, "/sys/bus/pci/devices");
  machine.kernel.module_version = unknown<std::string>("the nvidia module is not loaded");
  machine.driver.libcuda = {library_file("/usr/lib/wsl/lib/libcuda.so.1", "")};
  machine.driver.resolved_libcuda = "/usr/lib/wsl/lib/libcuda.so.1";
  machine.packages.relevant = known<std::vector<Package>>({}, "/var/lib/dpkg/status");
  return machine;
}

TEST(Wsl, ElsewhereNothingApplies) {
  for (const char* id : {"wsl1-has-no-gpu", "wsl-no-dxg", "wsl-no-libcuda", "wsl-linux-driver",
                         "wsl-gpu-blocked", "wsl-libcuda-no-link", "wsl-container-without-gpu"})
    EXPECT_TRUE(is_none(id, healthy_h100()));
}

TEST(Wsl, TheFirstOneHasNoGpu) {
  EXPECT_TRUE(is_ok("wsl1-has-no-gpu", wsl()));
  Machine machine = no_gpu();
  machine.surroundings.wsl1 = true;
  EXPECT_TRUE(fires("wsl1-has-no-gpu", machine));
}

TEST(Wsl, DeviceAndLibrary) {
  Machine machine = wsl();
  EXPECT_TRUE(is_ok("wsl-no-dxg", machine));
  EXPECT_TRUE(is_ok("wsl-no-libcuda", machine));
  machine.surroundings.wsl_libraries.clear();
  EXPECT_TRUE(fires("wsl-no-libcuda", machine));
  machine.surroundings.dxg_node = false;
  EXPECT_TRUE(fires("wsl-no-dxg", machine));
  EXPECT_TRUE(is_none("wsl-no-libcuda", machine));
  machine.surroundings.dxg_node.reset();
  EXPECT_TRUE(is_unknown("wsl-no-dxg", machine));
}

TEST(Wsl, LinuxDriverInside) {
  Machine machine = wsl();
  EXPECT_TRUE(is_ok("wsl-linux-driver", machine));
  machine.packages.relevant.value->push_back(
      {"libnvidia-compute-550", "550.54", "ii", "amd64", {}});
  EXPECT_TRUE(fires("wsl-linux-driver", machine));
  EXPECT_EQ(ask("wsl-linux-driver", machine).severity, Severity::warning);
  machine.driver.resolved_libcuda = "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54";
  EXPECT_TRUE(fires("wsl-linux-driver", machine));
  EXPECT_FALSE(ask("wsl-linux-driver", machine).severity.has_value());
  machine.packages.relevant = unknown<std::vector<Package>>("no package database");
  machine.driver.resolved_libcuda.clear();
  EXPECT_TRUE(is_unknown("wsl-linux-driver", machine));
}

TEST(Wsl, BlockedByWindows) {
  Machine machine = wsl();
  EXPECT_TRUE(is_ok("wsl-gpu-blocked", machine));
  machine.nvml.asked.state = AskState::failed;
  machine.nvml.asked.error = 17;
  EXPECT_TRUE(fires("wsl-gpu-blocked", machine));
  machine.nvml.asked.state = AskState::skipped;
  EXPECT_TRUE(is_unknown("wsl-gpu-blocked", machine));
}

TEST(Wsl, PlainFileIsOnlyWorthAWord) {
  EXPECT_TRUE(fires("wsl-libcuda-no-link", wsl()));
  EXPECT_EQ(row("wsl-libcuda-no-link").severity, Severity::info);
  Machine machine = wsl();
  machine.driver.libcuda[0].real_path = "/usr/lib/wsl/drivers/nv/libcuda.so.1.1";
  EXPECT_TRUE(is_ok("wsl-libcuda-no-link", machine));
}

TEST(Wsl, ContainerInside) {
  Machine machine = wsl();
  machine.surroundings.container = known(ContainerKind::docker, "/.dockerenv");
  EXPECT_TRUE(is_ok("wsl-container-without-gpu", machine));
  machine.surroundings.dxg_node = false;
  EXPECT_TRUE(fires("wsl-container-without-gpu", machine));
  EXPECT_TRUE(is_none("wsl-no-dxg", machine));
  machine.surroundings.dxg_node.reset();
  EXPECT_TRUE(is_unknown("wsl-container-without-gpu", machine));
}

// --- Jetson -------------------------------------------------------------------------------------

PythonEnv torch(const std::string& version, const std::string& cuda, std::vector<Target> sass) {
  PythonEnv env;
  env.executable = "/usr/bin/python3";
  env.prefix = "/usr";
  env.packages = known<std::vector<PythonPackage>>(
      {{.name = "torch", .version = version, .folder = "/site"}}, "/site");
  env.torch = {{"version", version}, {"cuda", cuda}};
  env.torch_has_cuda = !cuda.empty();
  PackageCode code;
  code.package = "torch";
  code.file = "/site/torch/lib/libtorch_cuda.so";
  code.sass = known(sass, code.file);
  code.ptx = known<std::vector<Target>>({}, code.file);
  if (!sass.empty()) env.code = {code};
  return env;
}

Machine jetson() {
  Machine machine = with_driver("540.4.0", 0, "", "", 0);
  machine.system.architecture = "aarch64";
  machine.surroundings.jetson = true;
  machine.surroundings.jetson_release = "R36 (release), REVISION: 4.0";
  machine.nvml = {};
  machine.cuda.driver_api = 12060U;
  machine.cuda.devices = {{.name = "Orin", .capability = 87U}};
  machine.packages.relevant = known<std::vector<Package>>({}, "/var/lib/dpkg/status");
  return machine;
}

TEST(Jetson, WheelsFromPypi) {
  Machine machine = jetson();
  EXPECT_TRUE(is_none("jetson-pypi-torch", machine));
  machine.pythons = {torch("2.8.0", "12.6", {{87, 0}})};
  EXPECT_TRUE(is_ok("jetson-pypi-torch", machine));
  machine.pythons = {torch("2.8.0+cpu", "", {})};
  EXPECT_TRUE(fires("jetson-pypi-torch", machine));
  EXPECT_TRUE(is_none("torch-cpu-build", machine)); // one finding, not two
  machine.pythons = {torch("2.9.0+cu130", "13.0", {{80, 0}, {90, 0}, {100, 0}, {120, 0}})};
  EXPECT_TRUE(fires("jetson-pypi-torch", machine));
  EXPECT_EQ(ask("jetson-pypi-torch", machine).fields["jetpack"], "jp6/cu126");
  EXPECT_TRUE(is_none("jetson-pypi-torch", healthy_h100()));
}

TEST(Jetson, ItsWheelOnAServer) {
  Machine machine = healthy_h100();
  machine.pythons = {torch("2.1.0a0+41361538.nv23.06", "11.4", {{87, 0}})};
  EXPECT_TRUE(is_none("jetson-wheel-elsewhere", machine)); // x86
  machine.system.architecture = "aarch64";
  EXPECT_TRUE(fires("jetson-wheel-elsewhere", machine));
  machine.pythons = {torch("2.9.0+cu130", "13.0", {{80, 0}, {90, 0}})};
  EXPECT_TRUE(is_ok("jetson-wheel-elsewhere", machine));
  machine.pythons[0].code[0].sass = unknown<std::vector<Target>>("not read");
  EXPECT_TRUE(is_unknown("jetson-wheel-elsewhere", machine));
}

TEST(Jetson, ToolkitNewerThanJetpack) {
  Machine machine = jetson();
  EXPECT_TRUE(is_none("jetson-toolkit-too-new", machine));
  machine.toolkits.nvcc = {
      {"/usr/local/cuda/bin/nvcc", "/usr/local/cuda-12.6/bin/nvcc", "12.6", ""}};
  EXPECT_TRUE(is_ok("jetson-toolkit-too-new", machine));
  machine.toolkits.nvcc[0].version = "12.9";
  EXPECT_TRUE(fires("jetson-toolkit-too-new", machine));
  machine.cuda.driver_api.reset();
  EXPECT_TRUE(is_unknown("jetson-toolkit-too-new", machine));
}

TEST(Jetson, DesktopDriver) {
  Machine machine = jetson();
  EXPECT_TRUE(is_ok("jetson-desktop-driver", machine));
  machine.packages.relevant.value->push_back({"nvidia-driver-550", "550.1", "ii", "arm64", {}});
  EXPECT_TRUE(fires("jetson-desktop-driver", machine));
  machine.packages.relevant = unknown<std::vector<Package>>("no package database");
  EXPECT_TRUE(is_unknown("jetson-desktop-driver", machine));
}

// --- clouds -------------------------------------------------------------------------------------

Machine instance(const std::string& cloud, const std::string& type, uint32_t gpus) {
  Machine machine = with_driver("580.65.06", gpus, "10de:2330", "NVIDIA H100 80GB HBM3", 90);
  machine.surroundings.cloud = known(cloud, "/sys/class/dmi/id");
  machine.surroundings.instance_type = type;
  machine.surroundings.hypervisor = known<std::string>("KVM", "DMI");
  return machine;
}

Machine healthy_on_aws() { // with NVSwitches on the bus
  Machine machine = healthy_h100();
  machine.surroundings.cloud = known<std::string>("aws", "/sys/class/dmi/id");
  machine.surroundings.instance_type = "p5.48xlarge";
  return machine;
}

TEST(Clouds, FabricManagerOfTheInstanceType) {
  EXPECT_TRUE(is_none("cloud-no-fabric-manager", healthy_h100()));
  EXPECT_TRUE(is_none("cloud-no-fabric-manager", instance("aws", "g5.xlarge", 1)));
  Machine machine = instance("aws", "p5.48xlarge", 8);
  EXPECT_TRUE(fires("cloud-no-fabric-manager", machine));
  EXPECT_EQ(ask("cloud-no-fabric-manager", machine).fields["command"],
            "sudo apt install nvidia-fabricmanager-580=580.65.06* && sudo systemctl enable --now "
            "nvidia-fabricmanager");
  machine.services.push_back(service("nvidia-fabricmanager.service", false, false));
  EXPECT_EQ(ask("cloud-no-fabric-manager", machine).fields["command"],
            "sudo systemctl enable --now nvidia-fabricmanager");
  machine.services.back() = service("nvidia-fabricmanager.service", true, true);
  EXPECT_TRUE(is_ok("cloud-no-fabric-manager", machine));
  EXPECT_TRUE(is_none("cloud-no-fabric-manager", healthy_on_aws()));
  machine.services.back().running = unknown<bool>("/proc is hidden");
  EXPECT_TRUE(is_unknown("cloud-no-fabric-manager", machine));
}

TEST(Clouds, GpusThatTheTypePromises) {
  EXPECT_TRUE(is_ok("cloud-fewer-gpus", instance("aws", "p5.48xlarge", 8)));
  EXPECT_TRUE(fires("cloud-fewer-gpus", instance("aws", "p5.48xlarge", 7)));
  EXPECT_TRUE(fires("cloud-fewer-gpus", instance("azure", "Standard_ND96isr_H100_v5", 6)));
  EXPECT_TRUE(is_ok("cloud-fewer-gpus", instance("aws", "g5.2xlarge", 1)));
  EXPECT_TRUE(is_ok("cloud-fewer-gpus", instance("alibaba", "ecs.gn7i-c32g1.32xlarge", 4)));
  EXPECT_TRUE(is_none("cloud-fewer-gpus", instance("aws", "m5.large", 0)));
  EXPECT_TRUE(is_unknown("cloud-fewer-gpus", instance("gcp", "", 8)));
  Machine machine = instance("aws", "p5.48xlarge", 7);
  machine.surroundings.cloud = unknown<std::string>("/sys/class/dmi/id: permission denied");
  EXPECT_TRUE(is_unknown("cloud-fewer-gpus", machine));
}

Machine virtual_gpu() {
  Machine machine = instance("azure", "Standard_NV12ads_A10_v5", 1);
  machine.nvml.gpus[0].virtualization.value = 2U;
  machine.nvml.gpus[0].vgpu_licensed.value = true;
  machine.cuda.devices[0].managed_memory = true;
  return machine;
}

TEST(Clouds, VirtualGpus) {
  for (const char* id : {"vgpu-unlicensed", "vgpu-no-managed-memory", "vgpu-profile-shown"}) {
    EXPECT_TRUE(is_none(id, healthy_h100()));
    Machine silent = virtual_gpu();
    silent.nvml = {};
    EXPECT_TRUE(is_unknown(id, silent));
  }
  Machine machine = virtual_gpu();
  EXPECT_TRUE(is_ok("vgpu-unlicensed", machine));
  EXPECT_TRUE(is_ok("vgpu-no-managed-memory", machine));
  EXPECT_TRUE(fires("vgpu-profile-shown", machine));
  machine.nvml.gpus[0].vgpu_licensed.value = false;
  machine.cuda.devices[0].managed_memory = false;
  EXPECT_TRUE(fires("vgpu-unlicensed", machine));
  EXPECT_TRUE(fires("vgpu-no-managed-memory", machine));
  machine.nvml.gpus[0].vgpu_licensed.value.reset();
  machine.cuda.devices[0].managed_memory.reset();
  EXPECT_TRUE(is_unknown("vgpu-unlicensed", machine));
  EXPECT_TRUE(is_unknown("vgpu-no-managed-memory", machine));
}

TEST(Clouds, GenericDriverOnAPartOfAGpu) {
  Machine machine = virtual_gpu();
  EXPECT_TRUE(is_ok("vgpu-needs-grid-driver", machine));
  EXPECT_TRUE(is_none("vgpu-needs-grid-driver", instance("aws", "p5.48xlarge", 8)));
  machine.nvml.gpus.clear();
  EXPECT_TRUE(fires("vgpu-needs-grid-driver", machine));
  machine.kernel.module_version = unknown<std::string>("the nvidia module is not loaded");
  EXPECT_TRUE(is_unknown("vgpu-needs-grid-driver", machine));
}

TEST(Clouds, DriverInTheProvidersFolder) {
  Machine machine = container();
  EXPECT_TRUE(is_ok("cloud-driver-path", machine));
  machine.driver.resolved_libcuda.clear();
  EXPECT_TRUE(is_none("cloud-driver-path", machine));
  machine.driver.libcuda = {library_file("/usr/local/nvidia/lib64/libcuda.so.1", "580.65.06")};
  EXPECT_TRUE(fires("cloud-driver-path", machine));
}

} // namespace
} // namespace gpuvet::testing
