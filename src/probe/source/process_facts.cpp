#include "probe/source/process_facts.hpp"

#include "base/text.hpp"
#include "probe/process_maps.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr size_t kLongestValue = 4096; // bytes of a variable
constexpr size_t kMostLibraries = 200;

constexpr std::array<std::string_view, 28> kVariablePrefixes = {
    "CUDA_",  "NVIDIA_", "NCCL_",  "TORCH_",   "PYTORCH_", "XLA_",         "TF_",
    "JAX_",   "TRITON_", "CUDNN_", "CUBLAS_",  "LD_",      "OMPI_MCA_",    "UCX_",
    "DCGM_",  "NVTE_",   "NVRTC_", "NVSHMEM_", "GPU_",     "PYTHONNOUSER", "PYTHONPATH",
    "CONDA_", "VIRTUAL", "SLURM_", "GLOO_",    "OMP_NUM_", "MPI_",         "RAY_"};

constexpr std::array<std::string_view, 22> kLibraryPrefixes = {
    "libcuda.so",     "libcudart",     "libcudnn",      "libnccl",       "libcublas",
    "libnvidia-",     "libnvrtc",      "libnvJitLink",  "libcufft",      "libcusolver",
    "libcusparse",    "libcurand",     "libcupti",      "libnvToolsExt", "libtorch_cuda",
    "libc10_cuda",    "libnvinfer",    "libcusparseLt", "libnvshmem",    "libtensorflow_",
    "xla_cuda_plugi", "libonnxruntime"};

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The id in "docker-<64 digits>.scope", "cri-containerd-<id>.scope" or a bare "<id>".
std::string container_in(std::string_view part) {
  if (part.ends_with(".scope")) part.remove_suffix(6);
  size_t dash = part.rfind('-');
  std::string_view id = dash == std::string_view::npos ? part : part.substr(dash + 1);
  return id.size() == 64 && is_hex(id) ? std::string(id.substr(0, 12)) : std::string();
}

} // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name may hold anything, parentheses too; the last one ends it.
  size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  const std::vector<std::string> rest = words_of(text.substr(close + 1));
  constexpr size_t kState = 0, kParent = 1, kStart = 19; // fields 3, 4 and 22 of proc(5)
  if (rest.size() <= kStart || rest[kState].size() != 1) return std::nullopt;
  return ProcessStat{.name = std::string(text.substr(open + 1, close - open - 1)),
                     .state = rest[kState][0],
                     .parent = decimal_number(rest[kParent]).value_or(0),
                     .start_ticks = decimal_number(rest[kStart]).value_or(0)};
}

std::string state_in_words(char state) {
  switch (state) {
  case 'R':
    return "R (running)";
  case 'S':
    return "S (sleeping)";
  case 'D':
    return "D (disk sleep)";
  case 'Z':
    return "Z (zombie)";
  case 'T':
    return "T (stopped)";
  case 't':
    return "t (tracing stop)";
  case 'I':
    return "I (idle)";
  case 'X':
    return "X (dead)";
  default:
    return std::string(1, state);
  }
}

std::optional<uint64_t> soft_limit_in(std::string_view limits, std::string_view name) {
  size_t at = limits.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = limits.substr(at + name.size());
  const std::vector<std::string> fields = words_of(line.substr(0, line.find('\n')));
  if (fields.empty()) return std::nullopt;
  if (fields.front() == "unlimited") return UINT64_MAX;
  return decimal_number(fields.front());
}

ControlGroup parse_control_group(std::string_view text) {
  ControlGroup group;
  for (const std::string& line : split_at(text, '\n')) {
    const std::vector<std::string> parts = split_at(line, '/');
    for (const std::string& part : parts) {
      if (part.ends_with(".service") || part.ends_with(".scope")) group.unit = part;
      if (std::string id = container_in(part); !id.empty()) group.container = std::move(id);
    }
    if (!group.container.empty()) break;
  }
  if (!group.container.empty() && group.unit.ends_with(".scope")) group.unit.clear();
  return group;
}

bool is_gpu_variable(std::string_view name) {
  return std::any_of(kVariablePrefixes.begin(), kVariablePrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::map<std::string, std::string> gpu_variables(std::string_view environ_text) {
  std::map<std::string, std::string> variables;
  while (!environ_text.empty()) {
    std::string_view setting = environ_text.substr(0, environ_text.find('\0'));
    environ_text.remove_prefix(std::min(setting.size() + 1, environ_text.size()));
    size_t equals = setting.find('=');
    if (equals == std::string_view::npos || !is_gpu_variable(setting.substr(0, equals))) continue;
    variables.emplace(setting.substr(0, equals), setting.substr(equals + 1, kLongestValue));
  }
  return variables;
}

std::vector<std::string> gpu_libraries(std::string_view maps) {
  std::vector<std::string> paths;
  for (const MappedFile& file : parse_process_maps(maps)) {
    std::string_view name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
    const bool wanted =
        std::any_of(kLibraryPrefixes.begin(), kLibraryPrefixes.end(),
                    [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (!wanted || paths.size() >= kMostLibraries) continue;
    paths.push_back(file.deleted ? file.path + " (deleted)" : file.path);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

} // namespace gpuvet
