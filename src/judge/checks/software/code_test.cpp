// GPU code of packages against GPUs and driver.
#include "judge/checks/testing/rows.hpp"

namespace gpuvet::testing {
namespace {

PackageCode code(const std::string& package, std::vector<Target> sass,
                 std::vector<Target> ptx = {}) {
  PackageCode made;
  made.package = package;
  made.file = "/site/" + package + "/lib.so";
  made.sass = known(std::move(sass), made.file);
  made.ptx = known(std::move(ptx), made.file);
  return made;
}

const std::vector<Target> kWheel = {{75, 0}, {80, 0}, {86, 0}, {90, 0}, {100, 0}, {120, 0}};

Machine with(std::vector<PackageCode> codes, const std::string& version = "2.11.0+cu128") {
  Machine machine = healthy_h100();
  PythonEnv env;
  env.executable = "/venv/bin/python";
  env.prefix = "/venv";
  std::vector<PythonPackage> packages;
  for (const PackageCode& each : codes)
    packages.push_back({.name = each.package,
                        .version = each.package == "torch" ? version : "1.0",
                        .folder = "/site"});
  env.packages = known(std::move(packages), "/site");
  env.code = std::move(codes);
  machine.pythons = {env};
  return machine;
}

Machine on_gpu(Machine machine, const std::string& name, uint32_t capability) {
  machine.nvml.gpus = {nvml_gpu(0, name, capability)};
  machine.cuda.devices.resize(1);
  machine.cuda.devices[0].capability = capability;
  return machine;
}

const char* const kAll[] = {"torch-gpu-too-new", "torch-gpu-too-old", "package-lacks-gpu-code",
                            "ptx-newer-than-driver", "code-compiled-at-start"};

TEST(Code, NothingToJudge) {
  for (const char* id : kAll)
    EXPECT_TRUE(is_none(id, healthy_h100()));
  Machine machine = no_gpu();
  machine.pythons = with({code("torch", kWheel)}).pythons;
  for (const char* id : kAll)
    EXPECT_TRUE(is_none(id, machine));
}

TEST(Code, FitsOrIsNotKnown) {
  Machine machine = with({code("torch", kWheel), code("flash-attn", {{80, 0}, {90, 0}})});
  for (const char* id : kAll)
    EXPECT_TRUE(is_ok(id, machine));
  machine.pythons[0].code[0].sass = unknown<std::vector<Target>>("the file is too large");
  machine.pythons[0].code.pop_back();
  for (const char* id : kAll)
    EXPECT_TRUE(is_unknown(id, machine));
  Machine no_capability = with({code("torch", kWheel)});
  no_capability.nvml = {};
  no_capability.cuda = {};
  no_capability.kernel.functions.value->at(0).id = "10de:ffff";
  for (const char* id : kAll)
    EXPECT_TRUE(is_unknown(id, no_capability));
}

TEST(Code, WheelOlderThanTheGpu) {
  Machine machine =
      on_gpu(with({code("torch", {{50, 0}, {80, 0}, {86, 0}, {90, 0}})}, "2.6.0+cu124"),
             "NVIDIA GeForce RTX 5090", 120);
  EXPECT_TRUE(fires("torch-gpu-too-new", machine));
  EXPECT_TRUE(is_ok("torch-gpu-too-old", machine));
  std::string install = ask("torch-gpu-too-new", machine).fields["install"];
  EXPECT_NE(install.find("https://download.pytorch.org/whl/cu1"), std::string::npos) << install;
  EXPECT_EQ(install.find("torch==2.6"), std::string::npos) << install; // has nothing for it
}

TEST(Code, WheelThatDroppedTheGpu) {
  Machine machine = on_gpu(with({code("torch", kWheel)}), "Tesla V100-SXM2-16GB", 70);
  EXPECT_TRUE(fires("torch-gpu-too-old", machine));
  EXPECT_TRUE(is_ok("torch-gpu-too-new", machine));
  EXPECT_EQ(ask("torch-gpu-too-old", machine).fields["wheel"], "torch 2.11 for cu126");
}

TEST(Code, CompanionWithoutTheGpu) {
  Machine machine = on_gpu(with({code("torch", kWheel), code("flash-attn", {{80, 0}, {90, 0}})}),
                           "NVIDIA GeForce RTX 5090", 120);
  EXPECT_TRUE(fires("package-lacks-gpu-code", machine));
  EXPECT_TRUE(is_ok("torch-gpu-too-new", machine));
  // Code of the same major and a lower minor runs: 8.6 on 8.9.
  Machine ada = on_gpu(with({code("flash-attn", {{80, 0}})}), "NVIDIA L4", 89);
  EXPECT_TRUE(is_ok("package-lacks-gpu-code", ada));
}

TEST(Code, ALibraryWithoutAnyGpuCodeLacksNone) {
  Machine machine = with({code("torch", kWheel), code("torchaudio", {})});
  EXPECT_TRUE(is_ok("package-lacks-gpu-code", machine));
}

TEST(Code, GpusThatDiffer) {
  Machine machine = with({code("torch", kWheel)});
  EXPECT_TRUE(is_none("gpus-differ-code-missing", machine));
  machine.nvml.gpus = {nvml_gpu(0, "NVIDIA A100-PCIE-40GB", 80),
                       nvml_gpu(1, "Tesla V100-PCIE-16GB", 70)};
  machine.cuda.devices.resize(2);
  machine.cuda.devices[0].capability = 80U;
  machine.cuda.devices[1].capability = 70U;
  EXPECT_TRUE(fires("gpus-differ-code-missing", machine));
  EXPECT_EQ(ask("gpus-differ-code-missing", machine).fields["devices"], "0");
  EXPECT_TRUE(is_ok("torch-gpu-too-old", machine)); // one GPU is served
  machine.pythons[0].code[0] = code("torch", {{70, 0}, {80, 0}});
  EXPECT_TRUE(is_ok("gpus-differ-code-missing", machine));
}

TEST(Code, OnlyPtxFits) {
  PackageCode ptx = code("tensorflow", {{60, 0}, {70, 0}, {80, 0}, {90, 0}}, {{90, 0}});
  Machine machine = on_gpu(with({ptx}), "NVIDIA GeForce RTX 5090", 120);
  EXPECT_TRUE(is_unknown("code-compiled-at-start", machine)); // the ISA decides
  machine.pythons[0].code[0].ptx_isa_major = 8U;
  machine.pythons[0].code[0].ptx_isa_minor = 5U;
  EXPECT_TRUE(fires("code-compiled-at-start", machine));
  EXPECT_TRUE(is_ok("ptx-newer-than-driver", machine));
  machine.pythons[0].code[0].ptx_isa_major = 9U;
  machine.pythons[0].code[0].ptx_isa_minor = 2U; // driver 580 reads up to 9.0
  EXPECT_TRUE(fires("ptx-newer-than-driver", machine));
  EXPECT_EQ(ask("ptx-newer-than-driver", machine).fields["branch"], "595");
  machine.kernel.module_version = unknown<std::string>("not loaded");
  machine.nvml.driver_version.clear();
  machine.nvml.cuda_version.reset();
  machine.cuda = {};
  machine.driver.user_version = unknown<std::string>("no libcuda.so.1");
  EXPECT_TRUE(is_unknown("ptx-newer-than-driver", machine));
}

TEST(Code, VariablesThatChooseTheCode) {
  Machine machine = with({code("torch", kWheel)});
  EXPECT_TRUE(is_none("jit-variable-breaks-package", machine));
  machine.environment["CUDA_FORCE_PTX_JIT"] = "1";
  EXPECT_TRUE(fires("jit-variable-breaks-package", machine)); // torch has no PTX
  machine.environment = {{"CUDA_DISABLE_PTX_JIT", "1"}};
  EXPECT_TRUE(is_ok("jit-variable-breaks-package", machine));
  machine.pythons[0].code[0].sass = unknown<std::vector<Target>>("not read");
  EXPECT_TRUE(is_unknown("jit-variable-breaks-package", machine));
}

TEST(Code, PtxasOfTriton) {
  Machine machine = with({code("triton", {})});
  EXPECT_TRUE(is_unknown("triton-ptxas-too-old", machine));
  machine.pythons[0].triton_ptxas = "12.8.93";
  EXPECT_TRUE(is_ok("triton-ptxas-too-old", machine));
  machine = on_gpu(machine, "NVIDIA GB10", 121); // sm_121a came with 12.9
  EXPECT_TRUE(fires("triton-ptxas-too-old", machine));
  Machine second = machine;
  second.pythons[0].triton_ptxas_blackwell = "13.0.48";
  EXPECT_TRUE(is_ok("triton-ptxas-too-old", second));
  InstalledToolkit toolkit;
  toolkit.folder = "/usr/local/cuda-13.0";
  toolkit.version = "13.0.1";
  toolkit.has_ptxas = true;
  machine.toolkits.installed = {toolkit};
  EXPECT_EQ(ask("triton-ptxas-too-old", machine).fields["path"], "/usr/local/cuda-13.0/bin/ptxas");
  machine.environment["TRITON_PTXAS_PATH"] = "/usr/local/cuda-13.0/bin/ptxas";
  EXPECT_TRUE(is_ok("triton-ptxas-too-old", machine));
  EXPECT_TRUE(is_none("triton-ptxas-too-old", healthy_h100()));
}

} // namespace
} // namespace gpuvet::testing
