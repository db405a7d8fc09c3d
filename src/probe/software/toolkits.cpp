#include "probe/software/toolkits.hpp"

#include "os/file_tree.hpp"
#include "probe/software/packages.hpp"
#include "probe/software/text.hpp"

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

// Folders of a toolkit that was removed are small; a large tree needs no complete list.
constexpr size_t kMostLeftovers = 20;
constexpr size_t kMostFoldersWalked = 64;

struct Collector {
  const Source& source;
  std::vector<InstalledToolkit> found;
  std::set<std::string> seen; // real folders

  void add(const std::string& folder, Origin origin);
};

std::vector<std::string> files_below(const Source& source, const std::string& folder) {
  std::vector<std::string> files, open = {folder};
  for (size_t walked = 0; walked < open.size() && walked < kMostFoldersWalked; ++walked) {
    auto names = source.list(open[walked]);
    if (!names) continue;
    for (const std::string& name : *names) {
      std::string path = join_path(open[walked], name);
      auto entry = source.entry(path);
      if (entry && entry->kind == EntryKind::folder)
        open.push_back(std::move(path));
      else
        files.push_back(std::move(path));
      if (files.size() == kMostLeftovers) return files;
    }
  }
  return files;
}

void Collector::add(const std::string& folder, Origin origin) {
  if (!is_folder(source, folder)) return;
  auto real = source.real_path(folder);
  if (!real || !seen.insert(*real).second) return;
  InstalledToolkit toolkit = describe_toolkit(source, *real);
  toolkit.origin = origin;
  // Without compiler and version it is what an uninstallation left, or never was a toolkit. Whether
  // a package owns it is asked later.
  if (!toolkit.has_nvcc && toolkit.version.empty() && !toolkit.has_ptxas) {
    toolkit.files = files_below(source, *real);
    if (toolkit.files.empty()) return;
    toolkit.leftover = true;
  }
  found.push_back(std::move(toolkit));
}

// The real folder first, so that `cuda` and `cuda-12` do not hide its name.
void add_matching(Collector& collector, const std::string& folder, const std::string& pattern) {
  for (const std::string& path : matching(collector.source, folder, pattern))
    collector.add(path, Origin::unknown);
}

bool is_program(const Source& source, const std::string& path) {
  return exists(source, path) && !is_folder(source, path);
}

} // namespace

const std::string kDebianNvcc = "/usr/lib/nvidia-cuda-toolkit/bin/nvcc";

std::string variable(const Environment& environment, const std::string& name) {
  auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::vector<std::string> folders_of(const std::string& list) {
  std::vector<std::string> folders;
  for (std::string_view folder : parts_of(list, ":"))
    folders.emplace_back(folder);
  return folders;
}

std::vector<NvccOnPath> find_nvcc(const Source& source, const Environment& environment) {
  std::vector<NvccOnPath> found;
  std::set<std::string> seen;
  for (const std::string& folder : folders_of(variable(environment, "PATH"))) {
    std::string path = join_path(folder, "nvcc");
    if (!is_program(source, path)) continue;
    auto real = source.real_path(path);
    if (!real || !seen.insert(*real).second) continue;
    NvccOnPath nvcc{.path = path, .real_path = *real, .version = {}, .owner = {}};
    nvcc.version = compiler_version(source, *real);
    if (nvcc.version.empty() && *real == "/usr/bin/nvcc")
      nvcc.version = compiler_version(source, kDebianNvcc);
    found.push_back(std::move(nvcc));
  }
  return found;
}

std::vector<InstalledToolkit> find_toolkits(const Source& source, const Environment& environment,
                                            const Packages& packages) {
  Collector collector{.source = source, .found = {}, .seen = {}};
  add_matching(collector, "/usr/local", "cuda*");
  add_matching(collector, "/opt", "cuda*");
  add_matching(collector, "/opt/nvidia", "cuda*");
  for (const std::string& machine : matching(source, "/opt/nvidia/hpc_sdk", "Linux_*"))
    for (const std::string& release : matching(source, machine, "2*"))
      add_matching(collector, join_path(release, "cuda"), "1*");
  // Debian and Ubuntu spread theirs over /usr; /usr/lib/cuda gathers it again.
  for (const char* folder : {"/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"})
    if (collector.seen.count("/usr/lib/cuda") == 0) collector.add(folder, Origin::distribution);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDAToolkit_ROOT"})
    if (std::string folder = variable(environment, name); folder.size() > 1)
      collector.add(folder, Origin::unknown);
  std::string conda = variable(environment, "CONDA_PREFIX");
  if (!conda.empty() &&
      (is_program(source, conda + "/bin/nvcc") || is_program(source, conda + "/bin/ptxas")))
    collector.add(conda, Origin::conda);
  for (const std::string& folder : folders_of(variable(environment, "PATH"))) {
    auto real = source.real_path(join_path(folder, "nvcc"));
    if (!real || *real == kDebianNvcc) continue;
    std::string bin = parent_folder(*real);
    std::string toolkit = parent_folder(bin);
    // Wrappers lie in /usr/local/bin and the like; only the compiler itself tells its version.
    if (collector.seen.count(toolkit) == 0 && exists(source, bin + "/ptxas") &&
        !compiler_version(source, *real).empty())
      collector.add(toolkit, Origin::unknown);
  }
  // A version that only the package knows: "11.5.119~11.5.1-1ubuntu1".
  for (InstalledToolkit& toolkit : collector.found) {
    if (toolkit.origin != Origin::distribution || !toolkit.version.empty() || !packages.relevant)
      continue;
    for (const Package& package : *packages.relevant) {
      if (package.name != "nvidia-cuda-toolkit" || package.status.ends_with('c')) continue;
      size_t tilde = package.version.find('~');
      std::string_view version = package.version;
      if (tilde != std::string::npos) version.remove_prefix(tilde + 1);
      toolkit.version = version.substr(0, version.find('-'));
    }
  }
  return std::move(collector.found);
}

void read_cuda_link(const Source& source, Toolkits& toolkits) {
  const std::string path = "/usr/local/cuda";
  auto entry = source.entry(path);
  if (!entry) {
    toolkits.cuda_link = unknown<std::string>(path + ": " + entry.error().what);
    return;
  }
  if (entry->kind != EntryKind::link) {
    toolkits.cuda_link = unknown<std::string>(path + " is a folder, not a link");
    return;
  }
  auto target = source.link_target(path);
  auto real = source.real_path(path);
  if (!target && !real) {
    toolkits.cuda_link = unknown<std::string>(path + ": " + target.error().what);
    return;
  }
  toolkits.cuda_link_dangling = !real || !exists(source, *real);
  toolkits.cuda_link =
      known(real && !toolkits.cuda_link_dangling ? *real : target.value_or(*real), "link " + path);
}

void read_build_environment(const Source& source, const Environment& environment,
                            Toolkits& toolkits) {
  for (const char* name :
       {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "CUDAToolkit_ROOT",
        "CUDACXX", "CUDAHOSTCXX", "NVCC_CCBIN", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS",
        "CUDAARCHS", "TORCH_CUDA_ARCH_LIST", "CUDNN_PATH", "CUDNN_HOME", "NCCL_HOME", "XLA_FLAGS",
        "TRITON_PTXAS_PATH", "CC", "CXX"}) {
    std::string value = variable(environment, name);
    if (value.empty()) continue;
    toolkits.environment[name] = value;
    if (value.starts_with('/') && !exists(source, value))
      toolkits.environment_missing.emplace_back(name);
  }
}

} // namespace gpuvet
