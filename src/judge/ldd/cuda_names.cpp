#include "judge/ldd/cuda_names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

// The soname's number of CUDA 11, 12 and 13, where it tells them apart: NVIDIA's release notes and
// the packages of https://developer.download.nvidia.com/compute/cuda/redist/.
struct Row {
  std::string_view library;
  std::array<std::string_view, 3> versions; // of CUDA 11, 12, 13
  std::string_view wheel;                   // nvidia-WHEEL-cu12; nvidia-WHEEL for CUDA 13
  std::string_view package;                 // PACKAGE-12-8 of NVIDIA's repositories
};
constexpr uint32_t kFirstCuda = 11;
constexpr std::array<Row, 24> kRows = {{
    {"cudart", {"11.0", "12", "13"}, "cuda-runtime", "cuda-cudart"},
    {"cublas", {"11", "12", "13"}, "cublas", "libcublas"},
    {"cublasLt", {"11", "12", "13"}, "cublas", "libcublas"},
    {"nvblas", {"11", "12", "13"}, "cublas", "libcublas"},
    {"cufft", {"10", "11", "12"}, "cufft", "libcufft"},
    {"cufftw", {"10", "11", "12"}, "cufft", "libcufft"},
    {"curand", {"10", "10", "10"}, "curand", "libcurand"},
    {"cusolver", {"11", "11", "12"}, "cusolver", "libcusolver"},
    {"cusolverMg", {"11", "11", "12"}, "cusolver", "libcusolver"},
    {"cusparse", {"11", "12", "12"}, "cusparse", "libcusparse"},
    {"nvJitLink", {"", "12", "13"}, "nvjitlink", "libnvjitlink"},
    {"nvrtc", {"11.2", "12", "13"}, "cuda-nvrtc", "cuda-nvrtc"},
    {"nvfatbin", {"", "12", "13"}, "nvfatbin", "libnvfatbin"},
    {"nvjpeg", {"11", "12", "13"}, "nvjpeg", "libnvjpeg"},
    {"cupti", {"11", "12", "13"}, "cuda-cupti", "cuda-cupti"},
    {"nppc", {"11", "12", "13"}, "npp", "libnpp"},
    {"nppial", {"11", "12", "13"}, "npp", "libnpp"},
    {"nppicc", {"11", "12", "13"}, "npp", "libnpp"},
    {"nppidei", {"11", "12", "13"}, "npp", "libnpp"},
    {"nppif", {"11", "12", "13"}, "npp", "libnpp"},
    {"nppig", {"11", "12", "13"}, "npp", "libnpp"},
    {"nppist", {"11", "12", "13"}, "npp", "libnpp"},
    {"npps", {"11", "12", "13"}, "npp", "libnpp"},
    {"cufile", {"0", "0", "0"}, "cufile", "libcufile"},
}};

const Row* row_of(std::string_view library) {
  for (const Row& row : kRows)
    if (row.library == library) return &row;
  return nullptr;
}

// "12" is the number of "12", "12.8.4.1".
bool starts_version(std::string_view version, std::string_view number) {
  return !number.empty() && version.starts_with(number) &&
         (version.size() == number.size() || version[number.size()] == '.');
}

uint32_t cuda_of(const Row& row, std::string_view version) {
  uint32_t found = 0, count = 0;
  for (uint32_t i = 0; i < row.versions.size(); ++i)
    if (starts_version(version, row.versions[i])) {
      found = kFirstCuda + i;
      ++count;
    }
  return count == 1 ? found : 0;
}

std::string first_part(std::string_view version) {
  return std::string(version.substr(0, version.find('.')));
}

std::vector<std::string> commands_for_cudnn(const CudaName& name, bool for_python) {
  std::string major = first_part(name.version.empty() ? "9" : name.version);
  if (for_python) return {fmt::format("pip install 'nvidia-cudnn-cu12=={}.*'", major)};
  if (major == "8") return {"apt install libcudnn8"};
  return {fmt::format("apt install libcudnn{}-cuda-12", major)};
}

} // namespace

CudaName cuda_name(std::string_view name) {
  size_t so = name.find(".so");
  if (!name.starts_with("lib") || so == std::string_view::npos) return {};
  std::string_view stem = name.substr(3, so - 3);
  std::string_view rest = name.substr(so + 3);
  if (!rest.empty() && rest.front() != '.') return {};
  CudaName found;
  bool known = row_of(stem) != nullptr || stem.starts_with("cudnn") || stem == "cuda" ||
               stem == "nccl" || stem == "nvidia-ml" || stem.starts_with("nvinfer") ||
               stem.starts_with("cutensor") || stem.starts_with("cusparseLt") ||
               stem.starts_with("nvshmem") || stem.starts_with("nvrtc-builtins") ||
               stem.starts_with("nvidia-ptxjitcompiler") || stem == "nvToolsExt";
  if (!known) return found;
  found.library = stem;
  if (!rest.empty()) found.version = rest.substr(1);
  if (const Row* row = row_of(stem)) found.cuda = cuda_of(*row, found.version);
  return found;
}

bool is_cuda_library(std::string_view name) {
  if (!cuda_name(name).library.empty()) return true;
  constexpr std::array<std::string_view, 7> starts = {
      "libtorch", "libc10", "libnvidia", "libtensorflow", "libonnxruntime", "libcupti", "libnvvm"};
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

bool is_system_library(std::string_view name) {
  constexpr std::array<std::string_view, 12> starts = {
      "libc.so.",  "libm.so.",     "libdl.so.",  "libpthread.so.", "librt.so.",    "libutil.so.",
      "libgcc_s.", "libstdc++.so", "libatomic.", "ld-linux",       "libresolv.so", "ld64.so"};
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

std::vector<std::string> commands_for(std::string_view name, bool for_python) {
  CudaName cuda = cuda_name(name);
  if (cuda.library.empty()) return {};
  if (cuda.library == "cuda" || cuda.library == "nvidia-ml" ||
      cuda.library.starts_with("nvidia-ptxjitcompiler"))
    return {"it comes with the NVIDIA driver: install the driver, or start the container with the "
            "GPU (docker run --gpus all)"};
  if (cuda.library.starts_with("cudnn")) return commands_for_cudnn(cuda, for_python);
  if (cuda.library == "nccl")
    return {for_python ? "pip install nvidia-nccl-cu12" : "apt install libnccl2"};
  const Row* row = row_of(cuda.library);
  if (row == nullptr) return {};
  if (for_python && cuda.cuda >= 13) return {fmt::format("pip install nvidia-{}", row->wheel)};
  if (for_python)
    return {fmt::format("pip install nvidia-{}-cu{}", row->wheel, cuda.cuda ? cuda.cuda : 12)};
  std::string version = cuda.cuda ? fmt::format(" of CUDA {}", cuda.cuda) : "";
  return {fmt::format("install {}-{}-N from NVIDIA's repository (N: the minor version), or the "
                      "toolkit{}",
                      row->package, cuda.cuda ? cuda.cuda : 12, version)};
}

std::string_view library_of_symbol(std::string_view symbol) {
  struct Prefix {
    std::string_view prefix, library;
  };
  constexpr std::array<Prefix, 15> prefixes = {{
      {"__cuda", "cudart"},
      {"cudnn", "cudnn"},
      {"cublasLt", "cublasLt"},
      {"cublas", "cublas"},
      {"cusparse", "cusparse"},
      {"cusolver", "cusolver"},
      {"cufft", "cufft"},
      {"curand", "curand"},
      {"nccl", "nccl"},
      {"nvrtc", "nvrtc"},
      {"nvJitLink", "nvJitLink"},
      {"__nvJitLink", "nvJitLink"},
      {"nvml", "nvidia-ml"},
      {"cupti", "cupti"},
      {"cuda", "cudart"},
  }};
  for (const Prefix& one : prefixes)
    if (symbol.starts_with(one.prefix)) return one.library;
  bool driver =
      symbol.size() > 2 && symbol.starts_with("cu") && symbol[2] >= 'A' && symbol[2] <= 'Z';
  return driver ? "cuda" : "";
}

} // namespace gpuvet
