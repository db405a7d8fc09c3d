// Toolkits, compilers and repositories.
#include "judge/checks/testing/rows.hpp"

namespace gpuvet::testing {
namespace {

InstalledToolkit toolkit(const std::string& version, const std::string& folder) {
  InstalledToolkit made;
  made.folder = made.real_folder = folder;
  made.version = version;
  made.origin = Origin::nvidia_repository;
  made.owner = "cuda-nvcc";
  made.has_nvcc = made.has_ptxas = made.has_libdevice = true;
  return made;
}

// A healthy machine on which people compile: CUDA 12.8, first on PATH.
Machine builder() {
  Machine machine = healthy_h100();
  machine.environment["PATH"] = "/usr/local/cuda/bin:/usr/bin";
  Toolkits& toolkits = machine.toolkits;
  toolkits.installed = {toolkit("12.8.1", "/usr/local/cuda-12.8")};
  toolkits.installed[0].host_config_gcc = "14";
  toolkits.nvcc = {
      {"/usr/local/cuda/bin/nvcc", "/usr/local/cuda-12.8/bin/nvcc", "12.8", "cuda-nvcc"}};
  toolkits.cuda_link = known<std::string>("/usr/local/cuda-12.8", "link /usr/local/cuda");
  toolkits.gcc = known<std::string>("11.4.0", "/usr/bin/gcc");
  return machine;
}

void cut_short(Machine& machine) {
  machine.not_finished = {"software and shared libraries"};
}

TEST(Toolkits, NoneIsNoFault) {
  Machine machine = healthy_h100();
  for (const char* id : {"toolkits-several", "nvcc-shadowed", "nvcc-not-on-path",
                         "host-compiler-too-new", "glibc-too-new", "toolkit-older-than-gpu",
                         "toolkit-newer-than-driver", "toolkit-distribution-layout"})
    EXPECT_TRUE(is_none(id, machine));
  EXPECT_TRUE(is_ok("toolkit-absent", machine));
  cut_short(machine);
  for (const char* id : {"toolkits-several", "nvcc-shadowed", "toolkit-absent", "toolkit-leftover",
                         "glibc-too-new", "cuda-link-dangling"})
    EXPECT_TRUE(is_unknown(id, machine));
}

TEST(Toolkits, SeveralOfDifferentReleases) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("toolkits-several", machine));
  machine.toolkits.installed.push_back(toolkit("11.8.0", "/usr/local/cuda-11.8"));
  EXPECT_TRUE(fires("toolkits-several", machine));
  machine.toolkits.installed.back().origin = Origin::conda; // of one environment
  EXPECT_TRUE(is_ok("toolkits-several", machine));
}

TEST(Toolkits, AbsentMattersToPackagesThatCompile) {
  Machine machine = healthy_h100();
  PythonEnv env;
  env.packages = known<std::vector<PythonPackage>>(
      {{.name = "deepspeed", .version = "0.15", .folder = "/site"}}, "/site");
  machine.pythons.push_back(env);
  EXPECT_TRUE(fires("toolkit-absent", machine));
  machine.toolkits = builder().toolkits;
  EXPECT_TRUE(is_ok("toolkit-absent", machine));
}

TEST(Toolkits, LeftoverFolder) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("toolkit-leftover", machine));
  InstalledToolkit old;
  old.folder = old.real_folder = "/usr/local/cuda-11.2";
  old.leftover = true;
  old.files = {"/usr/local/cuda-11.2/lib64/libcudnn.so.8"};
  machine.toolkits.installed.push_back(old);
  EXPECT_TRUE(fires("toolkit-leftover", machine));
  EXPECT_EQ(ask("toolkit-leftover", machine).fields["command"], "sudo rm -r /usr/local/cuda-11.2");
}

TEST(Toolkits, DanglingLink) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("cuda-link-dangling", machine));
  machine.toolkits.cuda_link = known<std::string>("/usr/local/cuda-11.2", "link /usr/local/cuda");
  machine.toolkits.cuda_link_dangling = true;
  EXPECT_TRUE(fires("cuda-link-dangling", machine));
  EXPECT_EQ(ask("cuda-link-dangling", machine).fields["command"],
            "sudo ln -sfn /usr/local/cuda-12.8 /usr/local/cuda");
  machine.toolkits.cuda_link = unknown<std::string>("/usr/local/cuda: no such file");
  machine.toolkits.cuda_link_dangling = false;
  EXPECT_TRUE(is_none("cuda-link-dangling", machine));
}

TEST(Toolkits, NvccOfTheDistributionComesFirst) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("nvcc-shadowed", machine));
  machine.toolkits.nvcc.insert(machine.toolkits.nvcc.begin(),
                               {"/usr/bin/nvcc", "/usr/bin/nvcc", "10.1", "nvidia-cuda-toolkit"});
  EXPECT_TRUE(fires("nvcc-shadowed", machine));
  machine.toolkits.nvcc[0].version.clear();
  EXPECT_TRUE(is_unknown("nvcc-shadowed", machine));
  machine.toolkits.nvcc = {{"/usr/bin/nvcc", "/usr/bin/nvcc", "12.8", "nvidia-cuda-toolkit"}};
  machine.toolkits.installed.clear();
  EXPECT_TRUE(is_ok("nvcc-shadowed", machine));
}

TEST(Toolkits, NvccNotOnPath) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("nvcc-not-on-path", machine));
  machine.toolkits.nvcc.clear();
  EXPECT_TRUE(fires("nvcc-not-on-path", machine));
  machine.environment.erase("PATH");
  EXPECT_TRUE(is_unknown("nvcc-not-on-path", machine));
}

TEST(Toolkits, VariablesNameAToolkit) {
  Machine machine = builder();
  EXPECT_TRUE(is_none("cuda-home-missing", machine));
  EXPECT_TRUE(is_none("cuda-home-disagrees", machine));
  machine.toolkits.environment["CUDA_HOME"] = "/usr/local/cuda";
  EXPECT_TRUE(is_ok("cuda-home-missing", machine));
  EXPECT_TRUE(is_ok("cuda-home-disagrees", machine));
  machine.toolkits.installed.push_back(toolkit("11.8.0", "/usr/local/cuda-11.8"));
  machine.toolkits.environment["CUDA_HOME"] = "/usr/local/cuda-11.8";
  EXPECT_TRUE(fires("cuda-home-disagrees", machine));
  machine.toolkits.environment["CUDA_HOME"] = "/usr/local/cuda-9";
  machine.toolkits.environment_missing = {"CUDA_HOME"};
  EXPECT_TRUE(fires("cuda-home-missing", machine));
}

TEST(Toolkits, DistributionLayout) {
  Machine machine = builder();
  EXPECT_TRUE(is_none("toolkit-distribution-layout", machine));
  machine.toolkits.installed.clear();
  machine.toolkits.nvcc = {{"/usr/bin/nvcc", "/usr/bin/nvcc", "12.0", "nvidia-cuda-toolkit"}};
  machine.toolkits.cuda_link = unknown<std::string>("/usr/local/cuda: no such file");
  EXPECT_TRUE(fires("toolkit-distribution-layout", machine));
  machine.toolkits.environment["CUDA_HOME"] = "/usr/lib/cuda";
  EXPECT_TRUE(is_ok("toolkit-distribution-layout", machine));
}

TEST(Toolkits, LibrariesCopiedOverAPackage) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("toolkit-copied-libraries", machine));
  CudaLibrary cudnn;
  cudnn.kind = "cudnn";
  cudnn.file = library_file("/usr/local/cuda-12.8/lib64/libcudnn.so.8.9.7", "8.9.7");
  machine.libraries.push_back(cudnn);
  EXPECT_TRUE(fires("toolkit-copied-libraries", machine));
  machine.libraries[0].file.owner = "libcudnn8";
  EXPECT_TRUE(is_ok("toolkit-copied-libraries", machine));
  machine.packages.relevant = unknown<std::vector<Package>>("no package database");
  EXPECT_TRUE(is_unknown("toolkit-copied-libraries", machine));
}

TEST(Compilers, HostCompilerAgainstTheToolkitsOwnLimit) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("host-compiler-too-new", machine));
  machine.toolkits.gcc = known<std::string>("15.1.0", "/usr/bin/gcc");
  machine.toolkits.other_gcc = {"12", "13", "15"};
  EXPECT_TRUE(fires("host-compiler-too-new", machine));
  EXPECT_EQ(ask("host-compiler-too-new", machine).fields["command"],
            "export NVCC_CCBIN=/usr/bin/g++-13");
  machine.toolkits.host_compiler = known<std::string>("gcc 13", "NVCC_CCBIN=/usr/bin/g++-13");
  EXPECT_TRUE(is_ok("host-compiler-too-new", machine));
  machine.toolkits.host_compiler = {};
  machine.toolkits.gcc = unknown<std::string>("no gcc on PATH");
  EXPECT_TRUE(is_unknown("host-compiler-too-new", machine));
}

TEST(Compilers, TheTableHelpsWhereTheHeaderWasNotRead) {
  Machine machine = builder();
  machine.toolkits.installed[0].host_config_gcc.clear();
  EXPECT_TRUE(is_ok("host-compiler-too-new", machine));
  machine.toolkits.gcc = known<std::string>("15.1.0", "/usr/bin/gcc");
  EXPECT_TRUE(fires("host-compiler-too-new", machine)); // CUDA 12.8 takes gcc 14
}

TEST(Compilers, CLibraryNewerThanTheToolkit) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("glibc-too-new", machine));
  machine.system.glibc = known<std::string>("2.41", "gnu_get_libc_version");
  EXPECT_TRUE(fires("glibc-too-new", machine));
  EXPECT_EQ(ask("glibc-too-new", machine).fields["functions"], "cospi and sinpi");
  machine.toolkits.nvcc[0].version = "13.0";
  EXPECT_TRUE(is_ok("glibc-too-new", machine));
  machine.system.glibc = unknown<std::string>("musl");
  EXPECT_TRUE(is_unknown("glibc-too-new", machine));
}

TEST(Compilers, ToolkitOlderThanTheGpu) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("toolkit-older-than-gpu", machine));
  machine.toolkits.nvcc[0].version = "11.2";
  EXPECT_TRUE(fires("toolkit-older-than-gpu", machine));
  EXPECT_EQ(ask("toolkit-older-than-gpu", machine).fields["first"], "11.8");
  EXPECT_TRUE(is_ok("toolkit-dropped-gpu", machine));
  machine.toolkits.nvcc[0].version = "99.1";
  EXPECT_TRUE(is_unknown("toolkit-older-than-gpu", machine));
  Machine ada = builder();
  ada.nvml.gpus = {nvml_gpu(0, "NVIDIA L4", 89)};
  ada.toolkits.nvcc[0].version = "11.4"; // has 8.6 and 8.7, whose code runs on 8.9
  EXPECT_EQ(ask("toolkit-older-than-gpu", ada).severity, Severity::info);
}

TEST(Compilers, ToolkitThatDroppedTheGpu) {
  Machine machine = builder();
  machine.nvml.gpus = {nvml_gpu(0, "Tesla V100-SXM2-16GB", 70)};
  EXPECT_TRUE(is_ok("toolkit-dropped-gpu", machine));
  machine.toolkits.nvcc[0].version = "13.0";
  EXPECT_TRUE(fires("toolkit-dropped-gpu", machine));
  EXPECT_EQ(ask("toolkit-dropped-gpu", machine).fields["last"], "12.9");
  EXPECT_TRUE(is_none("toolkit-dropped-gpu", healthy_h100()));
}

TEST(Compilers, ToolkitNewerThanTheDriver) {
  Machine machine = builder();
  EXPECT_TRUE(is_ok("toolkit-newer-than-driver", machine));
  machine.kernel.module_version = known<std::string>("470.82.01", "/sys/module/nvidia/version");
  machine.cuda.driver_api = 11040U;
  EXPECT_TRUE(fires("toolkit-newer-than-driver", machine));
  EXPECT_NE(ask("toolkit-newer-than-driver", machine).fields["effect"].find("35"),
            std::string::npos);
  machine.kernel.module_version = known<std::string>("535.104.05", "/sys/module/nvidia/version");
  machine.cuda.driver_api = 12020U; // minor-version compatibility
  EXPECT_NE(ask("toolkit-newer-than-driver", machine).fields["effect"].find("222"),
            std::string::npos);
  Machine without = builder();
  without.kernel.functions = no_gpu().kernel.functions;
  without.nvml = no_gpu().nvml;
  without.cuda = no_gpu().cuda;
  EXPECT_TRUE(is_none("toolkit-newer-than-driver", without));
}

// --- repositories -------------------------------------------------------------------------------

Packages::Repository repository(const std::string& release, const std::string& key) {
  return {"/etc/apt/sources.list.d/cuda.list:1",
          "https://developer.download.nvidia.com/compute/cuda/repos/" + release + "/x86_64/", key};
}

Machine with_repository() {
  Machine machine = healthy_h100();
  machine.packages.repositories = {
      repository("ubuntu2204", "/usr/share/keyrings/cuda-archive-keyring.gpg")};
  machine.packages.keyring = true;
  return machine;
}

TEST(Repositories, SettingsOfRemovedPackages) {
  Machine machine = healthy_h100();
  EXPECT_TRUE(is_ok("packages-residual-config", machine));
  machine.packages.relevant.value->push_back({"nvidia-dkms-535", "535.1", "rc", "amd64", {}});
  EXPECT_TRUE(fires("packages-residual-config", machine));
  EXPECT_EQ(ask("packages-residual-config", machine).fields["packages"], "nvidia-dkms-535");
  machine.distribution.packages = PackageSystem::dnf;
  EXPECT_TRUE(is_none("packages-residual-config", machine));
}

TEST(Repositories, KeyIsMissing) {
  EXPECT_TRUE(is_none("cuda-repository-no-key", healthy_h100()));
  Machine machine = with_repository();
  EXPECT_TRUE(is_ok("cuda-repository-no-key", machine));
  machine.packages.keyring = false;
  EXPECT_TRUE(is_ok("cuda-repository-no-key", machine)); // another key is named
  machine.packages.repositories[0].signed_by.clear();
  EXPECT_TRUE(fires("cuda-repository-no-key", machine));
  EXPECT_EQ(ask("cuda-repository-no-key", machine).fields["base"],
            "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64");
  Machine unread;
  unread.distribution.packages = PackageSystem::apt;
  EXPECT_TRUE(is_unknown("cuda-repository-no-key", unread));
}

TEST(Repositories, SetUpTwice) {
  Machine machine = with_repository();
  EXPECT_TRUE(is_ok("cuda-repository-twice", machine));
  machine.packages.repositories.push_back(repository("ubuntu2204", ""));
  machine.packages.repositories.back().file = "/etc/apt/sources.list.d/old.list:3";
  EXPECT_TRUE(fires("cuda-repository-twice", machine));
  EXPECT_EQ(ask("cuda-repository-twice", machine).fields["file"],
            "/etc/apt/sources.list.d/old.list");
  machine.packages.repositories.back().signed_by = machine.packages.repositories[0].signed_by;
  EXPECT_TRUE(is_ok("cuda-repository-twice", machine));
  EXPECT_TRUE(is_none("cuda-repository-twice", healthy_h100()));
}

TEST(Repositories, SignatureThatDebian13Rejects) {
  Machine machine = with_repository();
  EXPECT_TRUE(is_none("cuda-repository-old-signature", machine));
  machine.distribution.id = known<std::string>("debian", "/etc/os-release");
  machine.distribution.version = "13";
  machine.system.now = known<int64_t>(1'780'000'000, "clock");
  machine.packages.repositories = {repository("debian12", "/usr/share/keyrings/x.gpg")};
  EXPECT_TRUE(fires("cuda-repository-old-signature", machine));
  machine.system.now = known<int64_t>(1'760'000'000, "clock");
  EXPECT_TRUE(is_ok("cuda-repository-old-signature", machine));
  machine.system.now = known<int64_t>(1'780'000'000, "clock");
  machine.packages.repositories = {repository("debian13", "/usr/share/keyrings/x.gpg")};
  EXPECT_TRUE(is_ok("cuda-repository-old-signature", machine));
  machine.distribution.id = unknown<std::string>("no os-release");
  EXPECT_TRUE(is_unknown("cuda-repository-old-signature", machine));
}

TEST(Repositories, OfAnotherRelease) {
  Machine machine = with_repository();
  EXPECT_TRUE(is_ok("cuda-repository-other-release", machine));
  machine.distribution.version = "24.04";
  EXPECT_TRUE(fires("cuda-repository-other-release", machine));
  EXPECT_EQ(ask("cuda-repository-other-release", machine).fields["release"], "ubuntu2404");
  machine.packages.repositories = {repository("wsl-ubuntu", "/k.gpg")};
  machine.surroundings.wsl = true;
  EXPECT_TRUE(is_ok("cuda-repository-other-release", machine));
  machine.distribution.id = known<std::string>("linuxmint", "/etc/os-release");
  EXPECT_TRUE(is_none("cuda-repository-other-release", machine));
}

TEST(Repositories, ToolkitThatBroughtADriver) {
  Machine machine = healthy_h100();
  EXPECT_TRUE(is_none("toolkit-changed-driver", machine));
  Packages::Event event;
  event.date = "2025-03-04 06:25:10";
  event.text = "apt install cuda";
  event.changes = {{"install", "cuda", "", "13.0.1-1"},
                   {"upgrade", "nvidia-driver-550", "550.54", "580.65.06"}};
  machine.packages.history = {event};
  EXPECT_TRUE(fires("toolkit-changed-driver", machine));
  machine.packages.history[0].changes[0].package = "cuda-toolkit-13-0";
  EXPECT_TRUE(is_ok("toolkit-changed-driver", machine));
  machine.packages.relevant = unknown<std::vector<Package>>("no package database");
  EXPECT_TRUE(is_unknown("toolkit-changed-driver", machine));
}

} // namespace
} // namespace gpuvet::testing
