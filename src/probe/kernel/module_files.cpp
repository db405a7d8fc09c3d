// Module files on disk, looked for only where installers put them: walking /lib/modules whole would
// take longer than everything else together.
#include "base/text.hpp"
#include "probe/kernel/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::kernel {
namespace {

const std::string kRoot = "/lib/modules";
constexpr size_t kMostKernels = 32;

// Below a kernel's folder. `nvidia*` folders below the first three are found by their names:
// Ubuntu's kernel/nvidia-580-open, Fedora's extra/nvidia.
constexpr std::array<std::string_view, 4> kParents = {"kernel", "extra", "updates", "weak-updates"};
constexpr std::array<std::string_view, 8> kFolders = {
    "kernel/drivers/video",        // runfile
    "kernel/drivers/video/nvidia", // openSUSE
    "extra/drivers/video/nvidia",  // precompiled for RHEL
    "updates/dkms",
    "extramodules", // Arch Linux
    "misc",
    "weak-updates/updates",
    "weak-updates/extra",
};

// "nvidia-uvm.ko.zst" -> "nvidia-uvm"; empty: not a module of the driver
std::string module_name(const std::string& file) {
  if (!file.starts_with("nvidia")) return {};
  for (std::string_view end : {".ko", ".ko.xz", ".ko.zst", ".ko.gz"})
    if (file.ends_with(end)) return file.substr(0, file.size() - end.size());
  return {};
}

std::vector<std::string> folders_of(const Source& source, const std::string& kernel) {
  std::string base = kRoot + "/" + kernel + "/";
  std::vector<std::string> folders;
  for (std::string_view parent : kParents) {
    folders.push_back(base + std::string(parent));
    auto names = source.list(folders.back());
    if (!names) continue;
    for (const std::string& name : *names)
      if (name.starts_with("nvidia") && module_name(name).empty())
        folders.push_back(base + std::string(parent) + "/" + name);
  }
  for (std::string_view folder : kFolders)
    folders.push_back(base + std::string(folder));
  return folders;
}

std::vector<std::string> module_files_in(const Source& source, const std::string& folder) {
  std::vector<std::string> files;
  auto names = source.list(folder);
  if (!names) return files;
  for (const std::string& name : *names)
    if (!module_name(name).empty()) files.push_back(folder + "/" + name);
  return files;
}

void take(const ModuleInfo& info, ModuleFile& file) {
  file.version = info.version;
  file.license = info.license;
  file.signer = info.signer;
  file.is_signed = info.is_signed;
}

// Of a set that was built together, one file speaks for those that can't be read. nvidia-modeset is
// small and has the licence of nvidia itself; those of the others are the same in both flavours.
const ModuleFile* spokesman(const std::vector<ModuleFile>& files) {
  const ModuleFile* other = nullptr;
  for (const ModuleFile& file : files) {
    if (!file.problem.empty() || file.version.empty()) continue;
    if (holds_word(file.path, "/nvidia-modeset.ko")) return &file;
    if (other == nullptr) other = &file;
  }
  return other;
}

void let_neighbours_speak(std::vector<ModuleFile>& files) {
  const ModuleFile* speaker = spokesman(files);
  if (speaker == nullptr) return;
  const ModuleFile known_one = *speaker; // the vector's elements are changed below
  for (ModuleFile& file : files) {
    if (file.problem.empty()) continue;
    file.version = known_one.version;
    file.is_signed = known_one.is_signed;
    file.signer = known_one.signer;
    if (holds_word(known_one.path, "/nvidia-modeset.ko")) file.license = known_one.license;
    file.told_by = known_one.path;
  }
}

void read_folder(const Source& source, const std::string& kernel, const std::string& folder,
                 std::vector<ModuleFile>& all) {
  std::vector<ModuleFile> files;
  for (const std::string& path : module_files_in(source, folder)) {
    ModuleFile file;
    file.path = path;
    file.kernel = kernel;
    auto info = source.module_info ? source.module_info(path)
                                   : Result<ModuleInfo>(fail("not asked of this source", path));
    if (info)
      take(*info, file);
    else
      file.problem = info.error().what;
    files.push_back(std::move(file));
  }
  let_neighbours_speak(files);
  std::move(files.begin(), files.end(), std::back_inserter(all));
}

bool has_driver(const Source& source, const std::string& kernel) {
  for (const std::string& folder : folders_of(source, kernel))
    for (const std::string& path : module_files_in(source, folder))
      if (module_name(path.substr(folder.size() + 1)) == "nvidia") return true;
  return false;
}

void find_headers(const Source& source, const std::string& kernel, KernelSide& side) {
  std::string build = kRoot + "/" + kernel + "/build";
  auto link = source.entry(build);
  if (!link) {
    if (is_missing(link.error()))
      side.headers = known(false, build + " is not there");
    else
      side.headers = unknown<bool>(build + ": " + link.error().what);
    return;
  }
  bool complete = exists(source, build + "/Makefile") && exists(source, build + "/include");
  side.headers = known(complete, complete ? build : build + " holds no Makefile and include/");
}

} // namespace

void probe_module_files(const Source& source, const SystemFacts& system, KernelSide& side) {
  auto kernels = source.list(kRoot);
  std::string running = system.kernel_release ? *system.kernel_release : "";
  std::string why;
  if (!kernels)
    why = kRoot + ": " + kernels.error().what;
  else if (running.empty())
    why = "the running kernel is not known: " + system.kernel_release.why_unknown;
  else if (!is_folder(source, kRoot + "/" + running))
    why = kRoot + "/" + running + " is not there";
  if (why.empty()) {
    std::vector<ModuleFile> files;
    for (const std::string& folder : folders_of(source, running))
      read_folder(source, running, folder, files);
    side.module_files = known(std::move(files), kRoot + "/" + running);
    find_headers(source, running, side);
  } else {
    side.module_files = unknown<std::vector<ModuleFile>>(why);
    side.headers = unknown<bool>(why);
  }
  if (!kernels) return;
  for (size_t i = 0; i < std::min(kernels->size(), kMostKernels); ++i)
    if ((*kernels)[i] != running && has_driver(source, (*kernels)[i]))
      side.other_kernels_with_module.push_back((*kernels)[i]);
}

} // namespace gpuvet::kernel
