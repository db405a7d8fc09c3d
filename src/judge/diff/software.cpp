// Toolkits, what the loader finds, packages and CUDA libraries on disk.
#include "base/text.hpp"
#include "judge/diff/parts.hpp"

#include <algorithm>

namespace gpuvet::diff {
namespace {

std::map<std::string, std::string> toolkits_of(const Machine& machine) {
  std::map<std::string, std::string> toolkits;
  for (const InstalledToolkit& toolkit : machine.toolkits.installed) {
    std::string text = toolkit.version.empty() ? "version not known" : toolkit.version;
    if (toolkit.leftover) text = "leftovers";
    if (!toolkit.leftover && !toolkit.has_nvcc) text += ", without nvcc";
    toolkits[toolkit.folder] = text;
  }
  return toolkits;
}

std::string first_nvcc(const Machine& machine) {
  if (machine.toolkits.nvcc.empty()) return "";
  const NvccOnPath& nvcc = machine.toolkits.nvcc.front();
  return nvcc.path + (nvcc.version.empty() ? "" : " (" + nvcc.version + ")");
}

std::map<std::string, std::string> resolved(const Machine& machine) {
  std::map<std::string, std::string> files;
  for (const ResolvedSoname& soname : machine.loader.sonames) {
    const LoadEdge& found = soname.found;
    if (found.path.empty()) continue;
    files[soname.soname] = found.real_path.empty() ? found.path : found.real_path;
  }
  return files;
}

std::map<std::string, std::string> packages_of(const Machine& machine) {
  std::map<std::string, std::string> packages;
  for (const Package& package : *machine.packages.relevant) {
    const bool usual = package.status.empty() || package.status == "ii" || package.status == "hi" ||
                       package.status == "installed";
    std::string text = package.version;
    if (!usual) text += " (state " + package.status + ")";
    // One package of two architectures is two packages.
    std::string& entry = packages[package.name];
    entry += (entry.empty() ? "" : " and ") + text;
  }
  return packages;
}

// Files that no package and no Python environment accounts for.
std::map<std::string, std::string> loose_libraries(const Machine& machine) {
  std::map<std::string, std::string> files;
  for (const CudaLibrary& library : machine.libraries)
    if (library.python.empty() && library.file.owner.empty())
      files[library.file.path] =
          library.file.version.empty() ? "version not known" : library.file.version;
  return files;
}

std::set<std::string> repositories_of(const Machine& machine) {
  std::set<std::string> urls;
  for (const Packages::Repository& repository : machine.packages.repositories)
    urls.insert(repository.url);
  return urls;
}

} // namespace

void compare_toolkits(const Machine& before, const Machine& after, Changes& changes) {
  changes.compare_maps("toolkit", "CUDA toolkit ", toolkits_of(before), toolkits_of(after));
  changes.compare("cuda-link", "link /usr/local/cuda", before.toolkits.cuda_link.value.value_or(""),
                  after.toolkits.cuda_link.value.value_or(""));
  changes.compare("nvcc", "first nvcc on PATH", first_nvcc(before), first_nvcc(after));
  changes.compare("gcc", "gcc", before.toolkits.gcc.value.value_or(""),
                  after.toolkits.gcc.value.value_or(""));
  changes.compare("clang", "clang", before.toolkits.clang.value.value_or(""),
                  after.toolkits.clang.value.value_or(""));
}

void compare_loader(const Machine& before, const Machine& after, Changes& changes) {
  changes.compare_maps("resolves", "loader finds ", resolved(before), resolved(after));
  std::set<std::string> old_preload(before.loader.preload.begin(), before.loader.preload.end());
  std::set<std::string> new_preload(after.loader.preload.begin(), after.loader.preload.end());
  changes.compare_sets("preload", "preloaded library", old_preload, new_preload);
}

void compare_packages(const Machine& before, const Machine& after, Changes& changes) {
  if (before.packages.relevant && after.packages.relevant)
    changes.compare_maps("package", "package ", packages_of(before), packages_of(after));
  else if (before.packages.relevant || after.packages.relevant)
    changes.not_compared("packages",
                         before.packages.relevant
                             ? "not known now: " + after.packages.relevant.why_unknown
                             : "not known before: " + before.packages.relevant.why_unknown);
  const std::set<std::string> old_held(before.packages.held.begin(), before.packages.held.end());
  const std::set<std::string> new_held(after.packages.held.begin(), after.packages.held.end());
  changes.compare_sets("held", "held package", old_held, new_held);
  changes.compare_sets("repository", "NVIDIA's repository", repositories_of(before),
                       repositories_of(after));
  changes.compare_maps("library", "library ", loose_libraries(before), loose_libraries(after));
}

} // namespace gpuvet::diff
