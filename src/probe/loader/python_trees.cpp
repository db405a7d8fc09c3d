// What importing the GPU packages of a Python environment loads. Nothing is imported.
#include "probe/loader/loaded_process.hpp"
#include "probe/loader/subjects.hpp"
#include "probe/source/remembered.hpp"

#include <algorithm>
#include <array>
#include <future>

namespace gpuvet {
namespace {

// Libraries of a package that its import, or its first use of a GPU, loads. A pattern may have
// wildcards in its last part.
struct Principal {
  std::string_view package;
  bool torch_first = false; // an extension of PyTorch
  std::array<std::string_view, 4> patterns;
};
constexpr std::array<Principal, 16> kPrincipals = {{
    {"torchvision", true, {"torchvision/_C*.so"}},
    {"torchaudio", true, {"torchaudio/lib/_torchaudio*.so", "torchaudio/lib/libtorchaudio.so"}},
    {"flash_attn", true, {"flash_attn_2_cuda*.so"}},
    {"xformers", true, {"xformers/_C*.so"}},
    {"vllm", true, {"vllm/_C*.so", "vllm/_moe_C*.so"}},
    {"tensorflow", false, {"tensorflow/python/_pywrap_tensorflow_internal.so"}},
    {"jax cuda12", false, {"jax_plugins/xla_cuda12/xla_cuda_plugin.so", "jax_cuda12_plugin/*.so"}},
    {"jax cuda13", false, {"jax_plugins/xla_cuda13/xla_cuda_plugin.so", "jax_cuda13_plugin/*.so"}},
    {"cupy",
     false,
     {"cupy/_core/core*.so", "cupy_backends/cuda/api/*.so", "cupy_backends/cuda/libs/nvrtc*.so",
      "cupy_backends/cuda/libs/cu[brs]*.so"}},
    {"onnxruntime",
     false,
     {"onnxruntime/capi/onnxruntime_pybind11_state*.so",
      "onnxruntime/capi/libonnxruntime_providers_cuda.so"}},
    {"paddle", false, {"paddle/base/libpaddle.so", "paddle/fluid/libpaddle.so"}},
    {"triton", false, {"triton/_C/libtriton*.so"}},
    {"tensorrt", false, {"tensorrt/tensorrt*.so", "tensorrt_bindings/tensorrt*.so"}},
    {"ctranslate2", false, {"ctranslate2/_ext*.so"}},
    {"mxnet", false, {"mxnet/libmxnet.so"}},
    {"llama_cpp", false, {"llama_cpp/lib/libllama.so", "llama_cpp/lib/libggml-cuda.so"}},
}};

// Wheels that torch opens by path where it cannot load otherwise, in its order. Source:
// pytorch/pytorch torch/__init__.py (_preload_cuda_deps).
struct WheelLibrary {
  std::string_view folder, pattern;
};
constexpr std::array<WheelLibrary, 12> kWheelLibraries = {{
    {"cublas", "libcublas.so.*[0-9]"},
    {"cudnn", "libcudnn.so.*[0-9]"},
    {"cuda_nvrtc", "libnvrtc.so.*[0-9]"},
    {"cuda_runtime", "libcudart.so.*[0-9]"},
    {"cuda_cupti", "libcupti.so.*[0-9]"},
    {"cufft", "libcufft.so.*[0-9]"},
    {"curand", "libcurand.so.*[0-9]"},
    {"nvjitlink", "libnvJitLink.so.*[0-9]"},
    {"cusparse", "libcusparse.so.*[0-9]"},
    {"cusparselt", "libcusparseLt.so.*[0-9]"},
    {"cusolver", "libcusolver.so.*[0-9]"},
    {"nccl", "libnccl.so.*[0-9]"},
}};

struct Environment {
  const Source& source;
  const LoaderSetup& setup;
  std::string interpreter;
  std::vector<std::string> folders;
};

std::vector<std::string> files_of(const Environment& environment, std::string_view pattern) {
  size_t slash = pattern.rfind('/');
  std::string folder = slash == std::string_view::npos ? "" : std::string(pattern.substr(0, slash));
  std::string name(pattern.substr(slash == std::string_view::npos ? 0 : slash + 1));
  for (const std::string& site : environment.folders) {
    auto found = matching(environment.source, folder.empty() ? site : site + "/" + folder, name);
    if (!found.empty()) return found;
  }
  return {};
}

// The first file of a library among the nvidia-* wheels; CUDA 13's wheels share one folder.
std::string wheel_file(const Environment& environment, const WheelLibrary& library) {
  for (const std::string& folder : {std::string(library.folder), std::string("cu13")}) {
    auto files = files_of(environment, "nvidia/" + folder + "/lib/" + std::string(library.pattern));
    if (!files.empty()) return files.front();
  }
  return {};
}

void open_wheels(const Environment& environment, LoadedProcess& process, const char* why) {
  for (const WheelLibrary& library : kWheelLibraries)
    if (std::string path = wheel_file(environment, library); !path.empty())
      process.open(path, 0, FoundBy::dlopen, why);
}

// torch opens libtorch_global_deps.so; where that fails it opens the wheels and tries again; where
// the runtime came out of a wheel, newer ones open NVRTC and nvJitLink from there too.
void open_torch(const Environment& environment, LoadedProcess& process, bool wheels_first) {
  if (wheels_first) open_wheels(environment, process, "opened by torch, as its own search failed");
  for (const char* pattern : {"torch/lib/libtorch_global_deps.so"})
    for (const std::string& path : files_of(environment, pattern))
      process.open(path, 0, FoundBy::dlopen, "opened by import torch");
  const auto& nodes = process.tree().nodes;
  bool from_wheel = std::any_of(nodes.begin(), nodes.end(), [](const LoadNode& node) {
    return node.path.find("nvidia/cuda_runtime/lib/libcudart.so") != std::string::npos;
  });
  auto init = files_of(environment, "torch/__init__.py");
  auto text = init.empty() ? Result<std::string>(fail("none"))
                           : environment.source.read_file(init[0], size_t{4} << 20);
  if (from_wheel && text && text->find("nvidia/cuda_runtime/lib/libcudart.so") != std::string::npos)
    for (const WheelLibrary& library : kWheelLibraries)
      if (library.folder == "cuda_nvrtc" || library.folder == "nvjitlink")
        if (std::string path = wheel_file(environment, library); !path.empty())
          process.open(path, 0, FoundBy::dlopen, "opened by import torch");
  for (const char* pattern : {"torch/_C.*.so", "torch/lib/libtorch_python.so"})
    for (const std::string& path : files_of(environment, pattern))
      process.open(path, 0, FoundBy::dlopen, "opened by import torch");
}

// Without an interpreter that can be read, a program without run paths stands for it.
void start(const Environment& environment, LoadedProcess& process) {
  if (!process.start(environment.interpreter)) (void)process.start("");
}

bool torch_needs_wheels(const Environment& environment) {
  LoadedProcess trial(environment.source, environment.setup);
  start(environment, trial);
  for (const std::string& path : files_of(environment, "torch/lib/libtorch_global_deps.so"))
    trial.open(path, 0);
  const auto& missing = trial.tree().missing;
  return std::any_of(missing.begin(), missing.end(), [](const std::string& name) {
    return name.starts_with("libcu") || name.starts_with("libnv") || name.starts_with("libnccl");
  });
}

LoadTree take(LoadedProcess& process) {
  process.open_known_libraries();
  return process.take();
}

PackageTree tree_of_torch(const Environment& environment, bool wheels_first) {
  LoadedProcess process(environment.source, environment.setup);
  start(environment, process);
  open_torch(environment, process, wheels_first);
  return {"torch", take(process)};
}

struct Others { // what else is installed that bears on what a package loads
  bool torch = false, torch_wheels_first = false;
  bool pathfinder = false;
};

// The libraries of a package; no files: it is not installed.
std::vector<std::string> files_of(const Environment& environment, const Principal& principal) {
  std::vector<std::string> files;
  for (std::string_view pattern : principal.patterns)
    if (!pattern.empty())
      for (std::string& path : files_of(environment, pattern))
        files.push_back(std::move(path));
  return files;
}

PackageTree tree_of_package(const Environment& environment, const Principal& principal,
                            const std::vector<std::string>& files, const Others& others) {
  LoadedProcess process(environment.source, environment.setup);
  start(environment, process);
  if (principal.torch_first && others.torch)
    open_torch(environment, process, others.torch_wheels_first);
  // CuPy 14 looks for its libraries by cuda-pathfinder, which prefers wheels to the loader's path.
  if (principal.package == "cupy" && others.pathfinder)
    open_wheels(environment, process, "opened by cuda-pathfinder");
  for (const std::string& path : files)
    process.open(path, 0, FoundBy::dlopen, "opened by import " + std::string(principal.package));
  return {std::string(principal.package), take(process)};
}

} // namespace

// Each package in a thread of its own; what one of them has looked at, the others need not.
std::vector<PackageTree> trees_of_python(const Source& machine, const std::string& interpreter,
                                         const std::vector<std::string>& folders) {
  const Source source = remembered(machine);
  auto real = source.real_path(interpreter);
  auto elf = real ? source.elf(*real) : Result<ElfFacts>(tl::unexpected(real.error()));
  std::optional<Platform> platform;
  if (elf) platform = Platform{elf->bits, elf->machine, elf->interpreter};
  const LoaderSetup setup = loader_setup(source, platform);
  const Environment environment{source, setup, elf ? interpreter : "", folders};

  Others others;
  others.torch = !files_of(environment, "torch/lib/libtorch_python.so").empty();
  others.torch_wheels_first = others.torch && torch_needs_wheels(environment);
  others.pathfinder = !files_of(environment, "cuda/pathfinder/__init__.py").empty();
  std::vector<std::future<PackageTree>> readings;
  if (others.torch)
    readings.push_back(std::async(
        std::launch::async, [&] { return tree_of_torch(environment, others.torch_wheels_first); }));
  for (const Principal& principal : kPrincipals)
    if (auto files = files_of(environment, principal); !files.empty())
      readings.push_back(std::async(std::launch::async, [&, files = std::move(files)] {
        return tree_of_package(environment, principal, files, others);
      }));
  std::vector<PackageTree> trees;
  for (std::future<PackageTree>& reading : readings)
    trees.push_back(reading.get());
  return trees;
}

} // namespace gpuvet
