// Who owns the files that were found, and so where they came from.
#include "probe/software/attribute.hpp"

#include "os/file_tree.hpp"
#include "probe/software/packages.hpp"
#include "probe/software/text.hpp"

#include <set>

namespace gpuvet {
namespace {

using Owners = std::map<std::string, std::string>;

std::string owner_of(const Owners& owners, const std::string& path, const std::string& real) {
  for (const std::string& name : {real, path})
    if (auto found = owners.find(name); found != owners.end()) return found->second;
  return {};
}

bool has_compiler_parts(const InstalledToolkit& toolkit) {
  return toolkit.has_nvcc || toolkit.has_ptxas;
}

void attribute_toolkit(const Source& source, const Packages& packages, const Owners& owners,
                       InstalledToolkit& toolkit) {
  toolkit.owner = owner_of(owners, toolkit.folder + "/", toolkit.folder + "/bin/nvcc");
  if (!toolkit.owner.empty()) {
    toolkit.leftover = false; // libraries alone, or cuda-compat: a package put them there
    toolkit.files.clear();
    toolkit.origin = package_origin(packages, toolkit.owner);
    return;
  }
  if (toolkit.origin != Origin::unknown || !packages.relevant) return;
  if (exists(source, toolkit.folder + "/bin/cuda-uninstaller") ||
      exists(source, toolkit.folder + "/version.json") ||
      exists(source, toolkit.folder + "/version.txt"))
    toolkit.origin = Origin::runfile;
  else if (has_compiler_parts(toolkit))
    toolkit.origin = Origin::copied;
}

const InstalledToolkit* toolkit_around(const Toolkits& toolkits, const std::string& path) {
  for (const InstalledToolkit& toolkit : toolkits.installed)
    if (path.starts_with(toolkit.real_folder + "/")) return &toolkit;
  return nullptr;
}

// cuDNN, NCCL and TensorRT are no part of a toolkit: where no package put them, a person did.
bool comes_with_toolkit(const std::string& kind) {
  return kind != "cudnn" && kind != "nccl" && kind != "tensorrt";
}

void attribute_library(const Machine& machine, const Owners& owners, CudaLibrary& library) {
  library.file.owner = owner_of(owners, library.file.path, library.file.real_path);
  if (!library.file.owner.empty()) {
    library.file.origin = package_origin(machine.packages, library.file.owner);
    return;
  }
  if (!machine.packages.relevant) return;
  const InstalledToolkit* toolkit = toolkit_around(machine.toolkits, library.file.real_path);
  library.file.origin = toolkit && comes_with_toolkit(library.kind) && toolkit->owner.empty()
                            ? toolkit->origin
                            : Origin::copied;
}

// Files that a container runtime or WSL lays over the root are mounts of their own.
std::set<std::string> mount_points(const Source& source) {
  std::set<std::string> points;
  for (const std::string& line : lines(source, "/proc/self/mountinfo")) {
    auto words = parts_of(line);
    if (words.size() > 4) points.emplace(words[4]);
  }
  return points;
}

bool is_injected(const std::set<std::string>& mounts, const LibraryFile& file) {
  return mounts.count(file.path) > 0 || mounts.count(file.real_path) > 0 ||
         mounts.count(parent_folder(file.real_path)) > 0 ||
         file.real_path.starts_with("/usr/lib/wsl/");
}

Origin unowned_origin(const Machine& machine, const std::set<std::string>& mounts,
                      const LibraryFile& file) {
  if (is_injected(mounts, file)) return Origin::container_injected;
  if (holds_word(file.real_path, "/site-packages/")) return Origin::pip;
  if (holds_word(file.real_path, "/conda") || holds_word(file.real_path, "/envs/"))
    return Origin::conda;
  if (!machine.packages.relevant) return Origin::unknown;
  return machine.driver.nvidia_uninstall ? Origin::runfile : Origin::copied;
}

} // namespace

void attribute_software(const Source& source, Machine& machine) {
  std::vector<std::string> paths;
  for (const InstalledToolkit& toolkit : machine.toolkits.installed) {
    paths.push_back(toolkit.folder + "/bin/nvcc");
    paths.push_back(toolkit.folder + "/");
  }
  for (const NvccOnPath& nvcc : machine.toolkits.nvcc)
    paths.push_back(nvcc.real_path);
  for (const CudaLibrary& library : machine.libraries)
    paths.push_back(library.file.real_path);
  Owners owners = owners_of(source, machine.packages, paths);
  for (InstalledToolkit& toolkit : machine.toolkits.installed)
    attribute_toolkit(source, machine.packages, owners, toolkit);
  for (NvccOnPath& nvcc : machine.toolkits.nvcc)
    nvcc.owner = owner_of(owners, nvcc.path, nvcc.real_path);
  for (CudaLibrary& library : machine.libraries)
    attribute_library(machine, owners, library);
}

void attribute_driver_files(const Source& source, Machine& machine) {
  std::vector<LibraryFile*> files;
  for (auto* list :
       {&machine.driver.libcuda, &machine.driver.libnvidia_ml, &machine.driver.ptxjitcompiler})
    for (LibraryFile& file : *list)
      files.push_back(&file);
  if (files.empty()) return;
  std::vector<std::string> paths;
  for (const LibraryFile* file : files) {
    paths.push_back(file->path);
    paths.push_back(file->real_path);
  }
  Owners owners = owners_of(source, machine.packages, paths);
  std::set<std::string> mounts = mount_points(source);
  for (LibraryFile* file : files) {
    file->owner = owner_of(owners, file->path, file->real_path);
    bool owned = !file->owner.empty();
    if (file->stub)
      file->origin = Origin::toolkit_stub;
    else if (file->compat && !is_injected(mounts, *file))
      file->origin = Origin::compat_package;
    else
      file->origin = owned ? package_origin(machine.packages, file->owner)
                           : unowned_origin(machine, mounts, *file);
  }
}

} // namespace gpuvet
