// Python environments: frameworks against this machine, and packages against each other.
#include "judge/checks/testing/rows.hpp"

namespace gpuvet::testing {
namespace {

const std::string kSite = "/home/u/venv/lib/python3.12/site-packages";

PythonPackage package(const std::string& name, const std::string& version,
                      std::vector<std::string> pins = {}) {
  return {.name = name, .version = version, .folder = kSite, .pins = std::move(pins)};
}

PythonEnv environment(std::vector<PythonPackage> packages) {
  PythonEnv env;
  env.executable = "/home/u/venv/bin/python";
  env.prefix = "/home/u/venv";
  env.kind = "virtual environment";
  env.why = "active (VIRTUAL_ENV)";
  env.python_version = "3.12";
  env.folders = {kSite};
  env.packages = known(std::move(packages), kSite);
  return env;
}

PythonEnv with_torch(const std::string& version, const std::string& cuda) {
  PythonEnv env = environment({package("torch", version)});
  env.torch = {{"version", version}, {"cuda", cuda.empty() ? "None" : cuda}};
  env.torch_has_cuda = !cuda.empty();
  return env;
}

Machine with(PythonEnv env) {
  Machine machine = healthy_h100();
  machine.pythons = {std::move(env)};
  return machine;
}

Machine on_driver(Machine machine, const std::string& version, uint32_t api) {
  machine.kernel.module_version = known(version, "/sys/module/nvidia/version");
  machine.nvml.driver_version = version;
  machine.nvml.cuda_version = machine.cuda.driver_api = api;
  return machine;
}

Machine without_gpu(PythonEnv env) {
  Machine machine = no_gpu();
  machine.pythons = {std::move(env)};
  return machine;
}

PythonEnv unread() {
  PythonEnv env = environment({});
  env.packages = unknown<std::vector<PythonPackage>>("permission denied");
  return env;
}

const char* const kAll[] = {"torch-cpu-build",
                            "torch-conda-cpu",
                            "tensorflow-cpu-build",
                            "jax-cpu-build",
                            "torch-needs-newer-driver",
                            "framework-needs-newer-driver",
                            "tensorflow-libraries-missing",
                            "onnxruntime-libraries-missing",
                            "xla-libdevice-missing",
                            "nvidia-wheels-not-pinned",
                            "torch-companion-mismatch",
                            "xformers-mismatch",
                            "cuda-wheels-mixed",
                            "package-installed-twice",
                            "package-shadowed",
                            "onnxruntime-shadows-gpu",
                            "packages-provide-same-module",
                            "extension-other-torch",
                            "extension-lacks-library",
                            "python-import-fails"};

TEST(Python, NothingInstalledIsNoFault) {
  for (const char* id : kAll) {
    EXPECT_TRUE(is_none(id, healthy_h100()));
    EXPECT_TRUE(is_none(id, with(environment({}))));
  }
}

TEST(Python, PackagesThatWereNotReadAreUnknown) {
  Machine machine = with(unread());
  for (const char* id : kAll)
    EXPECT_TRUE(is_unknown(id, machine));
  Machine cut = healthy_h100();
  cut.not_finished = {"Python environments"};
  for (const char* id : kAll)
    EXPECT_TRUE(is_unknown(id, cut));
}

TEST(Python, TorchForTheCpu) {
  EXPECT_TRUE(is_ok("torch-cpu-build", with(with_torch("2.8.0+cu128", "12.8"))));
  Machine machine = with(with_torch("2.8.0+cpu", ""));
  EXPECT_TRUE(fires("torch-cpu-build", machine));
  EXPECT_EQ(ask("torch-cpu-build", machine).fields["install"],
            "/home/u/venv/bin/python -m pip install --force-reinstall \"torch==2.8.*\" --index-url "
            "https://download.pytorch.org/whl/cu129");
  EXPECT_TRUE(is_none("torch-conda-cpu", machine));
  EXPECT_TRUE(is_none("torch-cpu-build", without_gpu(with_torch("2.8.0+cpu", ""))));
  Machine rocm = with(with_torch("2.8.0+rocm6.4", ""));
  EXPECT_EQ(ask("torch-cpu-build", rocm).fields["kind"], "for AMD GPUs (ROCm)");
}

TEST(Python, TheWheelThatIsNamedSuitsDriverAndGpu) {
  Machine old = on_driver(with(with_torch("2.8.0+cpu", "")), "470.82.01", 11040);
  EXPECT_NE(ask("torch-cpu-build", old).fields["install"].find("whl/cu118"), std::string::npos);
  Machine volta = with(with_torch("2.11.0+cpu", ""));
  volta.nvml.gpus = {nvml_gpu(0, "Tesla V100-SXM2-16GB", 70)};
  EXPECT_NE(ask("torch-cpu-build", volta)
                .fields["install"]
                .find("torch==2.11.*\" --index-url "
                      "https://download.pytorch.org/whl/"
                      "cu126"),
            std::string::npos);
  Machine kepler = with(with_torch("2.8.0+cpu", ""));
  kepler.nvml.gpus = {nvml_gpu(0, "Tesla M2090", 20)};
  EXPECT_NE(ask("torch-cpu-build", kepler).fields["install"].find("TORCH_CUDA_ARCH_LIST"),
            std::string::npos);
}

TEST(Python, TorchWhoseBuildIsNotKnown) {
  PythonEnv env = environment({package("torch", "2.8.0")});
  EXPECT_TRUE(is_unknown("torch-cpu-build", with(env)));
  env.torch_has_cuda = false;
  EXPECT_TRUE(fires("torch-cpu-build", with(env)));
  Machine machine = with(env);
  machine.kernel.functions = unknown<std::vector<PciFunction>>("/sys: permission denied");
  machine.nvml = {};
  machine.cuda = {};
  EXPECT_TRUE(is_unknown("torch-cpu-build", machine));
}

TEST(Python, CondaChoseTheCpuBuild) {
  PythonEnv env = with_torch("2.8.0", "");
  env.packages.value->at(0).conda = true;
  env.packages.value->at(0).build = "cpu_generic_py312_h1234_0";
  Machine machine = with(env);
  EXPECT_TRUE(fires("torch-conda-cpu", machine));
  EXPECT_EQ(ask("torch-conda-cpu", machine).fields["install"],
            "CONDA_OVERRIDE_CUDA=12.9 conda install -p /home/u/venv -c conda-forge pytorch-gpu");
  EXPECT_TRUE(is_none("torch-cpu-build", machine));
  machine.pythons[0].packages.value->at(0).build = "cuda129_py312_h1234_0";
  machine.pythons[0].torch["cuda"] = "12.9";
  machine.pythons[0].torch_has_cuda = true;
  EXPECT_TRUE(is_ok("torch-conda-cpu", machine));
}

TEST(Python, TensorflowAndJaxForTheCpu) {
  EXPECT_TRUE(
      fires("tensorflow-cpu-build", with(environment({package("tensorflow-cpu", "2.19.0")}))));
  EXPECT_TRUE(is_ok("tensorflow-cpu-build", with(environment({package("tensorflow", "2.19.0")}))));
  EXPECT_TRUE(fires("jax-cpu-build",
                    with(environment({package("jax", "0.7.2"), package("jaxlib", "0.7.2")}))));
  EXPECT_TRUE(
      is_ok("jax-cpu-build", with(environment({package("jax", "0.7.2"), package("jaxlib", "0.7.2"),
                                               package("jax-cuda13-plugin", "0.7.2")}))));
  EXPECT_TRUE(is_none("jax-cpu-build", without_gpu(environment({package("jax", "0.7.2"),
                                                                package("jaxlib", "0.7.2")}))));
}

TEST(Python, DriverOlderThanTheWheel) {
  Machine machine = on_driver(with(with_torch("2.9.0+cu130", "13.0")), "550.54.15", 12040);
  EXPECT_TRUE(fires("torch-needs-newer-driver", machine));
  EXPECT_NE(ask("torch-needs-newer-driver", machine).fields["install"].find("\"torch==2.9.*\" "),
            std::string::npos);
  EXPECT_NE(ask("torch-needs-newer-driver", machine).fields["install"].find("whl/cu128"),
            std::string::npos);
  // Within a major version any driver from the floor on will do.
  EXPECT_TRUE(is_ok("torch-needs-newer-driver",
                    on_driver(with(with_torch("2.8.0+cu128", "12.8")), "535.104.05", 12020)));
  EXPECT_TRUE(fires("torch-needs-newer-driver",
                    on_driver(with(with_torch("2.8.0+cu128", "12.8")), "520.61.05", 11080)));
  // A cuda-compat libcuda that works raises what is served.
  EXPECT_TRUE(is_ok("torch-needs-newer-driver",
                    on_driver(with(with_torch("2.9.0+cu130", "13.0")), "550.54.15", 13000)));
  Machine unseen = with(with_torch("2.9.0+cu130", "13.0"));
  unseen.kernel.module_version = unknown<std::string>("not loaded");
  unseen.nvml = {};
  unseen.cuda = {};
  unseen.driver.user_version = unknown<std::string>("no libcuda.so.1");
  EXPECT_TRUE(is_unknown("torch-needs-newer-driver", unseen));
}

TEST(Python, DriverOlderThanOtherFrameworks) {
  Machine machine =
      on_driver(with(environment({package("cupy-cuda13x", "13.6.0")})), "550.54.15", 12040);
  EXPECT_TRUE(fires("framework-needs-newer-driver", machine));
  EXPECT_TRUE(is_ok("framework-needs-newer-driver",
                    on_driver(with(environment({package("cupy-cuda12x", "13.6.0"),
                                                package("onnxruntime-gpu", "1.20.1")})),
                              "550.54.15", 12040)));
  EXPECT_TRUE(fires(
      "framework-needs-newer-driver",
      on_driver(with(environment({package("onnxruntime-gpu", "1.20.1")})), "470.82.01", 11040)));
}

ResolvedSoname found(const std::string& soname) {
  ResolvedSoname entry;
  entry.soname = soname;
  entry.found.name = soname;
  entry.found.rule = FoundBy::cache;
  entry.found.path = entry.found.real_path = "/usr/lib/x86_64-linux-gnu/" + soname;
  return entry;
}

TEST(Python, LibrariesOfTensorflow) {
  PythonEnv env = environment({package("tensorflow", "2.19.0")});
  Machine machine = with(env);
  EXPECT_TRUE(is_unknown("tensorflow-libraries-missing", machine)); // nobody asked the loader
  machine.loader.cache_sonames = known<std::vector<std::string>>({}, "/etc/ld.so.cache");
  EXPECT_TRUE(fires("tensorflow-libraries-missing", machine));
  EXPECT_EQ(ask("tensorflow-libraries-missing", machine).fields["missing"],
            "libcudart.so.12, libcublas.so.12, libcudnn.so.9");
  machine.loader.sonames = {found("libcudart.so.12"), found("libcublas.so.12"),
                            found("libcudnn.so.9")};
  EXPECT_TRUE(is_ok("tensorflow-libraries-missing", machine));
  machine.loader.sonames.clear();
  machine.pythons[0] = environment(
      {package("tensorflow", "2.19.0"), package("nvidia-cuda-runtime-cu12", "12.5.82"),
       package("nvidia-cublas-cu12", "12.5.3.2"), package("nvidia-cudnn-cu12", "9.3.0.75")});
  EXPECT_TRUE(is_ok("tensorflow-libraries-missing", machine));
  machine.pythons[0] = environment({package("tensorflow", "0.1.0")});
  EXPECT_TRUE(is_unknown("tensorflow-libraries-missing", machine));
}

TEST(Python, LibrariesOfOnnxRuntime) {
  Machine machine = with(environment({package("onnxruntime-gpu", "1.20.1")}));
  EXPECT_TRUE(is_unknown("onnxruntime-libraries-missing", machine));
  machine.loader.cache_sonames = known<std::vector<std::string>>({}, "/etc/ld.so.cache");
  EXPECT_TRUE(fires("onnxruntime-libraries-missing", machine));
  machine.loader.sonames = {found("libcublasLt.so.12"), found("libcudnn.so.9")};
  EXPECT_TRUE(is_ok("onnxruntime-libraries-missing", machine));
  machine.loader.sonames.clear();
  machine.pythons[0] =
      environment({package("onnxruntime-gpu", "1.20.1"), package("nvidia-cublas-cu12", "12.8.4.1"),
                   package("nvidia-cudnn-cu12", "9.10.2.21")});
  EXPECT_TRUE(fires("onnxruntime-libraries-missing", machine));
  EXPECT_EQ(ask("onnxruntime-libraries-missing", machine).severity, Severity::info);
}

TEST(Python, ToolkitOfAnotherMajorVersion) {
  Machine machine = with(with_torch("2.8.0+cu128", "12.8"));
  EXPECT_TRUE(is_none("toolkit-not-torchs", machine)); // no toolkit, none needed
  machine.toolkits.nvcc = {
      {"/usr/local/cuda/bin/nvcc", "/usr/local/cuda-12.4/bin/nvcc", "12.4", ""}};
  EXPECT_TRUE(is_ok("toolkit-not-torchs", machine));
  machine.toolkits.nvcc[0].version = "13.0";
  EXPECT_TRUE(fires("toolkit-not-torchs", machine));
  EXPECT_EQ(ask("toolkit-not-torchs", machine).severity, Severity::info); // nothing compiles here
  machine.pythons[0].packages.value->push_back(package("deepspeed", "0.15"));
  EXPECT_FALSE(ask("toolkit-not-torchs", machine).severity.has_value());
  machine.pythons[0] = unread();
  EXPECT_TRUE(is_unknown("toolkit-not-torchs", machine));
}

TEST(Python, WhatXlaNeedsOfAToolkit) {
  PythonEnv env = environment(
      {package("jax", "0.6.0"), package("jaxlib", "0.6.0"), package("jax-cuda12-plugin", "0.6.0")});
  Machine machine = with(env);
  EXPECT_TRUE(fires("xla-libdevice-missing", machine));
  EXPECT_FALSE(ask("xla-libdevice-missing", machine).missing.empty()); // likely only
  machine.pythons[0].packages.value->push_back(package("nvidia-cuda-nvcc-cu12", "12.9.86"));
  EXPECT_TRUE(is_ok("xla-libdevice-missing", machine));
  EXPECT_TRUE(is_none("xla-ptxas-older", machine));
  machine.toolkits.nvcc = {
      {"/usr/local/cuda-12.1/bin/nvcc", "/usr/local/cuda-12.1/bin/nvcc", "12.1", ""}};
  EXPECT_TRUE(fires("xla-ptxas-older", machine));
  machine.toolkits.nvcc[0].version = "12.9";
  EXPECT_TRUE(is_ok("xla-ptxas-older", machine));
  machine.toolkits.nvcc[0].version.clear();
  EXPECT_TRUE(is_unknown("xla-ptxas-older", machine));
}

TEST(Python, ImportsThatFail) {
  PythonEnv env = with_torch("2.8.0+cu128", "12.8");
  env.imports = {{"torch", true, "", 2.0}};
  EXPECT_TRUE(is_ok("python-import-fails", with(env)));
  env.imports.push_back(
      {"flash_attn", false, "Traceback\nImportError: undefined symbol: x\n", 0.5});
  EXPECT_TRUE(fires("python-import-fails", with(env)));
  EXPECT_EQ(ask("python-import-fails", with(env)).fields["error"],
            "ImportError: undefined symbol: x");
}

// --- packages against each other ----------------------------------------------------------------

TEST(PythonPairs, WheelsThatAreNotPinned) {
  std::vector<std::string> pins = {"nvidia-cudnn-cu12==9.10.2.21", "triton==3.4.0", "numpy>=1"};
  Machine machine = with(environment(
      {package("torch", "2.8.0+cu128", pins), package("nvidia-cudnn-cu12", "9.10.2.21")}));
  EXPECT_TRUE(is_ok("nvidia-wheels-not-pinned", machine));
  machine.pythons[0].packages.value->at(1).version = "9.17.1.4";
  EXPECT_TRUE(fires("nvidia-wheels-not-pinned", machine));
  EXPECT_EQ(ask("nvidia-wheels-not-pinned", machine).fields["command"],
            "/home/u/venv/bin/python -m pip install nvidia-cudnn-cu12==9.10.2.21");
}

TEST(PythonPairs, CompanionsOfTorch) {
  auto pair = [](const std::string& torch, const std::string& vision,
                 std::vector<std::string> pins = {}) {
    return with(environment({package("torch", torch), package("torchvision", vision, pins)}));
  };
  EXPECT_TRUE(is_ok("torch-companion-mismatch", pair("2.8.0+cu128", "0.23.0+cu128")));
  EXPECT_TRUE(fires("torch-companion-mismatch", pair("2.8.0+cu128", "0.21.0+cu128")));
  EXPECT_TRUE(fires("torch-companion-mismatch", pair("2.8.0+cu128", "0.23.0+cpu")));
  // Its own pin counts more than the table.
  EXPECT_TRUE(is_ok("torch-companion-mismatch", pair("2.8.0", "0.99.0", {"torch==2.8.0"})));
  EXPECT_TRUE(fires("torch-companion-mismatch", pair("2.8.1", "0.23.0", {"torch==2.8.0"})));
  EXPECT_TRUE(is_unknown("torch-companion-mismatch", pair("2.8.0", "0.99.0")));
  EXPECT_TRUE(is_ok("torch-companion-mismatch", pair("2.15.0", "0.29.0"))); // that one and newer
}

TEST(PythonPairs, XformersOfAnotherTorch) {
  PythonEnv env = environment({package("torch", "2.8.0+cu128"), package("xformers", "0.0.32")});
  EXPECT_TRUE(is_unknown("xformers-mismatch", with(env)));
  env.xformers = {{"torch", "2.8.0+cu128"}};
  EXPECT_TRUE(is_ok("xformers-mismatch", with(env)));
  env.xformers["torch"] = "2.6.0+cu124";
  EXPECT_TRUE(fires("xformers-mismatch", with(env)));
  env.xformers["torch"] = "2.8.0+cu128";
  env.packages.value->at(0).version = "2.8.0+cpu"; // torch is the culprit
  EXPECT_TRUE(fires("xformers-mismatch", with(env)));
  EXPECT_NE(ask("xformers-mismatch", with(env)).fields["command"].find("torch==2.8.0 --index-url"),
            std::string::npos);
}

TEST(PythonPairs, WheelsForTwoMajorVersions) {
  Machine machine = with(environment(
      {package("nvidia-cudnn-cu12", "9.10.2.21"), package("nvidia-nccl-cu12", "2.27.3")}));
  EXPECT_TRUE(is_ok("cuda-wheels-mixed", machine));
  machine.pythons[0].packages.value->push_back(package("nvidia-cusparselt-cu13", "0.8.0"));
  EXPECT_TRUE(fires("cuda-wheels-mixed", machine));
  EXPECT_FALSE(ask("cuda-wheels-mixed", machine).severity.has_value());
  machine.pythons[0].packages.value->push_back(package("nvidia-cudnn-cu13", "9.13.0.50"));
  EXPECT_EQ(ask("cuda-wheels-mixed", machine).severity, Severity::error); // one folder, two owners
}

TEST(PythonPairs, CopiesOfOnePackage) {
  PythonEnv env = environment({package("torch", "2.8.0"), package("torch", "2.6.0")});
  EXPECT_TRUE(fires("package-installed-twice", with(env)));
  env.packages.value->at(0).folder = "/home/u/.local/lib/python3.12/site-packages";
  EXPECT_TRUE(is_ok("package-installed-twice", with(env)));
  EXPECT_TRUE(fires("package-shadowed", with(env)));
  EXPECT_EQ(ask("package-shadowed", with(env)).fields["command"], "export PYTHONNOUSERSITE=1");
  env.packages.value->at(0).folder = "/opt/extra";
  env.settings["PYTHONPATH"] = "/opt/extra:/opt/other";
  EXPECT_EQ(ask("package-shadowed", with(env)).fields["command"], "unset PYTHONPATH");
  env.packages.value->at(1).version = "2.8.0"; // the same release twice does no harm
  EXPECT_TRUE(is_ok("package-shadowed", with(env)));
  // conda records its packages besides pip's metadata of the same files.
  PythonEnv conda = environment({package("torch", "2.8.0"), package("torch", "2.8.0")});
  conda.packages.value->at(1).conda = true;
  EXPECT_TRUE(is_ok("package-installed-twice", with(conda)));
}

TEST(PythonPairs, TwoPackagesForOneModule) {
  EXPECT_TRUE(fires(
      "onnxruntime-shadows-gpu",
      with(environment({package("onnxruntime", "1.20.1"), package("onnxruntime-gpu", "1.20.1")}))));
  EXPECT_TRUE(
      is_ok("onnxruntime-shadows-gpu", with(environment({package("onnxruntime-gpu", "1.20.1")}))));
  EXPECT_TRUE(
      fires("packages-provide-same-module",
            with(environment({package("cupy-cuda11x", "13.0"), package("cupy-cuda12x", "13.6")}))));
  EXPECT_TRUE(fires(
      "packages-provide-same-module",
      with(environment({package("tensorflow", "2.19.0"), package("tensorflow-cpu", "2.19.0")}))));
  EXPECT_TRUE(
      is_ok("packages-provide-same-module", with(environment({package("cupy-cuda12x", "13.6")}))));
}

TEST(PythonPairs, ExtensionsOfAnotherTorch) {
  PythonEnv env = with_torch("2.8.0+cu128", "12.8");
  env.packages.value->push_back(package("flash-attn", "2.7.4"));
  EXPECT_TRUE(is_unknown("extension-other-torch", with(env))); // not read is not fine
  EXPECT_TRUE(is_unknown("extension-lacks-library", with(env)));
  env.torch["cxx11_abi"] = "True";
  PythonEnv::Extension extension;
  extension.package = "flash-attn";
  extension.file = kSite + "/flash_attn_2_cuda.so";
  extension.abi = "cxx11";
  env.extensions = {extension};
  EXPECT_TRUE(is_ok("extension-other-torch", with(env)));
  EXPECT_TRUE(is_ok("extension-lacks-library", with(env)));
  env.extensions[0].abi = "old";
  EXPECT_TRUE(fires("extension-other-torch", with(env)));
  env.extensions[0].abi = "cxx11";
  env.extensions[0].undefined = {"_ZN3c105ErrorC2ENS_14SourceLocationE"};
  EXPECT_TRUE(fires("extension-other-torch", with(env)));
  env.extensions[0].missing_needed = {"libcudart.so.11.0"};
  EXPECT_TRUE(fires("extension-lacks-library", with(env)));
}

} // namespace
} // namespace gpuvet::testing
