#include "probe/probe.hpp"
#include "probe/python/frameworks.hpp"
#include "probe/software/testing/build.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

using testing::RecordingBuilder;

const std::string kVenv = "/home/u/venv";
const std::string kSite = kVenv + "/lib/python3.11/site-packages";

// A virtual environment, active, and the system's Python behind it.
RecordingBuilder machine() {
  RecordingBuilder builder;
  builder.present("/usr/bin/python3.11")
      .link("/usr/bin/python3", "python3.11")
      .link(kVenv + "/bin/python", "/usr/bin/python3")
      .text(kVenv + "/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n")
      .folder(kSite)
      .folder("/usr/lib/python3.11/dist-packages")
      .variable("VIRTUAL_ENV", kVenv)
      .variable("PATH", kVenv + "/bin:/usr/bin");
  SystemFacts system;
  system.architecture = "x86_64";
  builder.recording->system = system;
  return builder;
}

void install(RecordingBuilder& builder, const std::string& name, const std::string& version,
             const std::string& more = {}, const std::string& site = kSite) {
  std::string written = name; // installers write it so
  std::replace(written.begin(), written.end(), '-', '_');
  std::string folder = site + "/" + written + "-" + version + ".dist-info";
  builder.text(folder + "/METADATA", "Metadata-Version: 2.1\nName: " + name +
                                         "\nVersion: " + version + "\n" + more +
                                         "\nRequires-Dist: triton==1 in the description\n");
  builder.text(folder + "/INSTALLER", "uv\n");
}

Machine probed(const RecordingBuilder& builder, const ProbeOptions& options = {}) {
  Machine machine;
  probe_pythons(builder.source(), options, machine);
  return machine;
}

TEST(Pythons, ActiveAndOnPathEachOnce) {
  Machine seen = probed(machine());
  // PATH leads to the environment again by `python`, and to the system by `python3`.
  ASSERT_EQ(seen.pythons.size(), 2u);
  EXPECT_EQ(seen.pythons[0].why, "active (VIRTUAL_ENV)");
  EXPECT_EQ(seen.pythons[0].kind, "virtual environment");
  EXPECT_EQ(seen.pythons[0].prefix, kVenv);
  EXPECT_EQ(seen.pythons[0].python_version, "3.11");
  EXPECT_EQ(seen.pythons[0].folders, std::vector<std::string>{kSite});
  ASSERT_TRUE(seen.pythons[0].packages);
  EXPECT_TRUE(seen.pythons[0].packages->empty());
  EXPECT_EQ(seen.pythons[1].why, "first python3 on PATH");
  EXPECT_EQ(seen.pythons[1].executable, "/usr/bin/python3");
}

TEST(Pythons, NamedOneThatIsNotThereSaysSo) {
  Machine seen = probed(RecordingBuilder(), {.pythons = {"/opt/none/bin/python"}});
  ASSERT_EQ(seen.pythons.size(), 1u);
  EXPECT_EQ(seen.pythons[0].why, "named");
  EXPECT_FALSE(seen.pythons[0].packages);
  EXPECT_NE(seen.pythons[0].packages.why_unknown.find("/opt/none/bin/python"), std::string::npos);
  EXPECT_TRUE(probed(RecordingBuilder()).pythons.empty());
}

TEST(Pythons, BehindPyenv) {
  RecordingBuilder builder;
  builder.text("/p/shims/python3", "#!/usr/bin/env bash\n")
      .text("/p/version", "3.11.7\n")
      .present("/p/versions/3.11.7/bin/python3.11")
      .link("/p/versions/3.11.7/bin/python3", "python3.11")
      .folder("/p/versions/3.11.7/lib/python3.11/site-packages")
      .variable("PATH", "/p/shims:/usr/bin");
  Machine seen = probed(builder);
  ASSERT_EQ(seen.pythons.size(), 1u);
  EXPECT_EQ(seen.pythons[0].executable, "/p/versions/3.11.7/bin/python3");
  EXPECT_EQ(seen.pythons[0].why, "first python3 on PATH (pyenv)");
}

TEST(Pythons, PackagesPinsAndDuplicates) {
  RecordingBuilder builder = machine();
  install(builder, "torch", "2.6.0+cu124",
          "Requires-Dist: numpy>=1\n"
          "Requires-Dist: nvidia-cudnn-cu12==9.1.0.70; platform_system == \"Linux\"\n"
          "Requires-Dist: nvidia-nccl-cu12==2.21.5; platform_machine == \"aarch64\"\n"
          "Requires-Dist: cuda-toolkit[cudart]==13.2.2\nRequires-Dist: triton==3.2.0\n"
          "Requires-Dist: flash-attn==2; extra == \"fast\"\n");
  install(builder, "torch", "2.5.1");
  install(builder, "cuda_toolkit", "13.2.2",
          "Requires-Dist: nvidia-cuda-runtime==13.2.1.*; extra == \"cudart\"\n"
          "Requires-Dist: nvidia-cublas==13.4.0.*; extra == \"cublas\"\n");
  install(builder, "numpy", "2.0");
  builder.text(kSite + "/apex-0.1-py3.11.egg-info/PKG-INFO", "Name: apex\nVersion: 0.1\n");
  builder.text(kSite + "/flash_attn-2.7.0.dist-info/RECORD", ""); // METADATA is gone
  Machine seen = probed(builder);
  ASSERT_TRUE(seen.pythons.at(0).packages);
  const auto& packages = *seen.pythons[0].packages;
  ASSERT_EQ(packages.size(), 5u);
  EXPECT_EQ(packages[0].name, "apex");
  EXPECT_EQ(packages[1].name, "cuda-toolkit");
  EXPECT_EQ(packages[1].pins, std::vector<std::string>{"nvidia-cuda-runtime==13.2.1.*"});
  EXPECT_EQ(packages[2].name, "flash-attn");
  EXPECT_EQ(packages[2].version, "2.7.0");
  EXPECT_EQ(packages[3].version, "2.5.1");
  EXPECT_EQ(packages[4].version, "2.6.0+cu124");
  EXPECT_EQ(packages[4].installer, "uv");
  EXPECT_EQ(packages[4].folder, kSite);
  EXPECT_EQ(packages[4].pins, (std::vector<std::string>{"nvidia-cudnn-cu12==9.1.0.70",
                                                        "cuda-toolkit==13.2.2", "triton==3.2.0"}));
}

TEST(Pythons, FrameworksSpeakForThemselves) {
  RecordingBuilder builder = machine();
  builder
      .text(kSite + "/torch/version.py", "__version__ = '2.6.0+cpu'\ndebug = False\n"
                                         "cuda: Optional[str] = None\nhip: Optional[str] = None\n")
      .holds(kSite + "/torch/share/cmake/Torch/TorchConfig.cmake",
             "_GLIBCXX_USE_CXX11_ABI=", "0\")")
      .text(kSite + "/tensorflow/python/platform/build_info.py",
            "build_info = collections.OrderedDict([('cuda_version', '12.5.1'), "
            "('cudnn_version', '9'), ('is_cuda_build', True)])\n")
      .text(kSite + "/xformers/cpp_lib.json",
            R"({"version": {"cuda": 1201, "torch": "2.4.1+cu121", "python": "3.11.10"}})")
      .holds(kSite + "/triton/backends/nvidia/bin/ptxas", "Cuda compilation tools, release ",
             "12.4, V12.4.99");
  PythonEnv env = probed(builder).pythons.at(0);
  EXPECT_EQ(env.torch["version"], "2.6.0+cpu");
  EXPECT_EQ(env.torch.count("cuda"), 0u);
  EXPECT_EQ(env.torch["cxx11_abi"], "0");
  EXPECT_EQ(env.torch_has_cuda, false);
  EXPECT_EQ(env.tensorflow["cuda_version"], "12.5.1");
  EXPECT_EQ(env.tensorflow["cudnn_version"], "9");
  EXPECT_EQ(env.tensorflow["is_cuda_build"], "true");
  EXPECT_EQ(env.xformers["torch"], "2.4.1+cu121");
  EXPECT_EQ(env.xformers["cuda"], "12.1");
  EXPECT_EQ(env.triton_ptxas, "12.4");
  EXPECT_EQ(env.triton_ptxas_blackwell, "");
  EXPECT_EQ(parse_torch_version("cuda: Optional[str] = '12.4'\nx = 'y'\n"),
            (std::map<std::string, std::string>{{"cuda", "12.4"}}));
}

TEST(Pythons, NothingInstalledIsNotCpuOnly) {
  EXPECT_FALSE(probed(machine()).pythons.at(0).torch_has_cuda);
}

TEST(Pythons, CodeOfPackages) {
  RecordingBuilder builder = machine();
  install(builder, "torch", "2.6.0+cu124");
  install(builder, "bitsandbytes", "0.45.0");
  builder.text(kSite + "/torch/version.py", "__version__ = '2.6.0'\ncuda = '12.4'\n")
      .present(kSite + "/torch/lib/libtorch_cuda.so")
      .present(kSite + "/bitsandbytes/libbitsandbytes_cuda118.so")
      .present(kSite + "/bitsandbytes/libbitsandbytes_cuda124.so")
      .present(kSite + "/bitsandbytes/libbitsandbytes_cuda126.so");
  PackageCode code;
  code.sass = known(std::vector<Target>{{.sm = 80}, {.sm = 90}}, "test");
  builder.recording->gpu_code[kSite + "/torch/lib/libtorch_cuda.so"] = code;
  PythonEnv env = probed(builder).pythons.at(0);
  EXPECT_EQ(env.torch_has_cuda, true);
  ASSERT_EQ(env.code.size(), 2u);
  EXPECT_EQ(env.code[0].package, "bitsandbytes");
  EXPECT_EQ(env.code[0].file, kSite + "/bitsandbytes/libbitsandbytes_cuda124.so");
  EXPECT_FALSE(env.code[0].sass); // there, but the recording does not tell
  EXPECT_EQ(env.code[1].package, "torch");
  EXPECT_EQ(env.code[1].sass->size(), 2u);
}

TEST(Pythons, ExtensionsOfAnotherAbiAndWhatTheyLack) {
  RecordingBuilder builder = machine();
  const std::string check = "_ZN3c106detail14torchCheckFailEPKcS2_jRK";
  const std::string old_abi = kSite + "/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so";
  const std::string fitting = kSite + "/xformers/_C.so";
  install(builder, "torch", "2.6.0+cu124");
  builder.text(kSite + "/torch/version.py", "__version__ = '2.6.0'\n")
      .present(kSite + "/torch/lib/libtorch_python.so")
      .present(kSite + "/nvidia/cuda_runtime/lib/libcudart.so.12")
      .holds(kSite + "/torch/lib/libc10.so", check, "NSt7__cxx1112basic_stringIcE")
      .holds(old_abi, check, "Ss")
      .holds(fitting, check, "NSt7__cxx1112basic_stringIcE");
  ElfFacts facts;
  facts.has_dynamic = true;
  facts.machine = 62;
  builder.recording->elf[kSite + "/torch/lib/libc10.so"] = facts;
  facts.needed = {"libc10.so", "libcudart.so.12", "libcublas.so.11", "libfoo.so.1"};
  facts.runpath = {"$ORIGIN/torch/lib", "/home/build/cuda/lib64", "/usr/local/cuda/lib64"};
  facts.unversioned_entry = true;
  builder.recording->elf[old_abi] = facts;
  facts.unversioned_entry = false;
  facts.needed = {"libc10.so"};
  facts.runpath = {"$ORIGIN/../torch/lib"};
  builder.recording->elf[fitting] = facts;
  // CuPy finds a toolkit's libraries by itself; an extension that lacks nothing is no news.
  facts.needed = {"libcublas.so.12"};
  builder.recording->elf[kSite + "/cupy/_core/core.cpython-311.so"] = facts;
  builder.present(kSite + "/cupy/_core/core.cpython-311.so")
      .present("/usr/local/cuda/lib64/libcublas.so.12")
      .present("/opt/cuda/lib64/libcublas.so.11");
  PythonEnv env = probed(builder).pythons.at(0);
  EXPECT_EQ(env.torch["cxx11_abi"], "1");
  ASSERT_EQ(env.extensions.size(), 2u);
  EXPECT_EQ(env.unversioned_entry, std::vector<std::string>{old_abi});
  EXPECT_EQ(env.extensions[0].package, "flash-attn");
  EXPECT_EQ(env.extensions[0].file, old_abi);
  EXPECT_EQ(env.extensions[0].abi, "old");
  EXPECT_EQ(env.extensions[0].undefined, std::vector<std::string>{check + "Ss"});
  // The wheel has the runtime, and libfoo is nothing of CUDA.
  EXPECT_EQ(env.extensions[0].missing_needed, std::vector<std::string>{"libcublas.so.11"});
  EXPECT_EQ(env.extensions[0].elsewhere,
            std::vector<std::string>{"/opt/cuda/lib64/libcublas.so.11"});
  EXPECT_EQ(env.extensions[0].lost_run_paths, std::vector<std::string>{"/home/build/cuda/lib64"});
  EXPECT_EQ(env.extensions[1].package, "xformers");
  EXPECT_EQ(env.extensions[1].abi, "cxx11");
  EXPECT_TRUE(env.extensions[1].undefined.empty());
  EXPECT_TRUE(env.extensions[1].missing_needed.empty());
}

TEST(Pythons, LibrariesOfWheelsTakeTheirVersionFromThePackage) {
  RecordingBuilder builder = machine();
  install(builder, "nvidia-cudnn-cu12", "9.1.0.70");
  install(builder, "nvidia-cudnn-frontend", "1.0");
  install(builder, "nvidia-cublas-cu11", "11.11.3.6");
  install(builder, "nvidia-cublas-cu12", "12.4.5.8");
  install(builder, "nvidia-nccl-cu11", "2.20.5");
  install(builder, "nvidia-nccl-cu12", "2.21.5");
  install(builder, "nvidia-cuda-runtime", "13.2.1");
  builder.present(kSite + "/nvidia/cudnn/lib/libcudnn.so.9")
      .present(kSite + "/nvidia/cudnn/lib/libcudnn_ops.so.9")
      .present(kSite + "/nvidia/cublas/lib/libcublas.so.11")
      .present(kSite + "/nvidia/cublas/lib/libcublas.so.12")
      .present(kSite + "/nvidia/nccl/lib/libnccl.so.2")
      .present(kSite + "/nvidia/cu13/lib/libcudart.so.13")
      .holds(kSite + "/nvidia/cuda_nvcc/bin/ptxas", "Cuda compilation tools, release ",
             "12.9, V12.9.86");
  Machine seen = probed(builder);
  std::map<std::string, std::string> told;
  for (const CudaLibrary& library : seen.libraries) {
    EXPECT_EQ(library.python, kSite);
    told[library.file.path.substr(library.file.path.rfind('/') + 1)] =
        library.file.owner + " " + library.file.version;
  }
  EXPECT_EQ(told["libcudnn.so.9"], "nvidia-cudnn-cu12 9.1.0.70");
  EXPECT_EQ(told["libcudnn_ops.so.9"], "nvidia-cudnn-cu12 9.1.0.70");
  EXPECT_EQ(told["libcublas.so.11"], "nvidia-cublas-cu11 11.11.3.6");
  EXPECT_EQ(told["libcublas.so.12"], "nvidia-cublas-cu12 12.4.5.8");
  EXPECT_EQ(told["libnccl.so.2"], "nvidia-nccl-cu11, nvidia-nccl-cu12 ");
  EXPECT_EQ(told["libcudart.so.13"], "nvidia-cuda-runtime 13.2.1");
  ASSERT_EQ(seen.toolkits.installed.size(), 1u);
  EXPECT_EQ(seen.toolkits.installed[0].version, "12.9");
  EXPECT_EQ(seen.toolkits.installed[0].origin, Origin::pip);
}

TEST(Pythons, Conda) {
  RecordingBuilder builder;
  const std::string prefix = "/opt/conda/envs/x";
  builder.present(prefix + "/bin/python3.12")
      .link(prefix + "/bin/python", "python3.12")
      .folder(prefix + "/lib/python3.12/site-packages")
      .text(prefix + "/conda-meta/pytorch-2.5.1-cpu_generic_py312_h4f7b6ec_1.json", "{}")
      .text(prefix + "/conda-meta/python-3.12.1-hab00c5b_0.json", "{}")
      .present(prefix + "/lib/libcudnn.so.9.3.0")
      .present(prefix + "/lib/libtorch_cuda.so")
      .text(prefix + "/lib/python3.12/site-packages/torch/version.py", "__version__ = '2.5.1'\n")
      .variable("CONDA_PREFIX", prefix);
  Machine seen = probed(builder);
  ASSERT_EQ(seen.pythons.size(), 1u);
  const PythonEnv& env = seen.pythons[0];
  EXPECT_EQ(env.kind, "conda environment");
  ASSERT_EQ(env.packages->size(), 1u);
  EXPECT_EQ(env.packages->front().name, "pytorch");
  EXPECT_EQ(env.packages->front().version, "2.5.1");
  EXPECT_EQ(env.packages->front().build, "cpu_generic_py312_h4f7b6ec_1");
  EXPECT_TRUE(env.packages->front().conda);
  EXPECT_EQ(env.torch_has_cuda, true);
  ASSERT_EQ(seen.libraries.size(), 1u);
  EXPECT_EQ(seen.libraries[0].file.origin, Origin::conda);
  EXPECT_EQ(seen.libraries[0].file.version, "9.3.0");
}

TEST(Pythons, PythonPathComesFirstAndImportsOnlyWhenAsked) {
  RecordingBuilder builder = machine();
  install(builder, "torch", "2.6.0");
  install(builder, "torch", "2.4.0", {}, "/opt/extra");
  builder.variable("PYTHONPATH", "/opt/extra:/opt/none");
  PythonEnv env = probed(builder).pythons.at(0);
  ASSERT_EQ(env.folders.size(), 2u);
  EXPECT_EQ(env.folders[0], "/opt/extra");
  EXPECT_EQ(env.packages->front().version, "2.4.0");
  EXPECT_TRUE(env.imports.empty());
  ProbeOptions importing;
  importing.import_packages = true;
  env = probed(builder, importing).pythons.at(0);
  ASSERT_EQ(env.imports.size(), 1u);
  EXPECT_EQ(env.imports[0].package, "torch");
  EXPECT_FALSE(env.imports[0].ok); // the recording holds no such answer
}

} // namespace
} // namespace gpuvet
