#include "probe/loader/elsewhere.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr size_t kMostShown = 8;

// Sources: NVIDIA/libnvidia-container and nvidia-container-toolkit (driver roots), Google's GPU
// device plug-in (/home/kubernetes/bin/nvidia), NixOS manual (/run/opengl-driver), NVIDIA's CUDA on
// WSL guide (/usr/lib/wsl/lib), Colab images (/usr/lib64-nvidia).
constexpr std::array kDriverFolders = {"/usr/lib/wsl/lib",
                                       "/usr/local/nvidia/lib64",
                                       "/usr/local/nvidia/lib",
                                       "/usr/lib64-nvidia",
                                       "/home/kubernetes/bin/nvidia/lib64",
                                       "/run/opengl-driver/lib",
                                       "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
                                       "/run/nvidia/driver/usr/lib64",
                                       "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
                                       "/usr/lib/nvidia",
                                       "/usr/lib/nvidia/current",
                                       "/usr/lib/x86_64-linux-gnu/nvidia/current",
                                       "/usr/lib/aarch64-linux-gnu/nvidia",
                                       "/usr/lib/aarch64-linux-gnu/tegra",
                                       "/.singularity.d/libs"};

void add_folder(const Source& source, const std::string& folder, std::vector<std::string>& list) {
  if (is_folder(source, folder) && std::find(list.begin(), list.end(), folder) == list.end())
    list.push_back(folder);
}

// "/x/site-packages/nvidia" for a file below "/x/site-packages".
std::string wheels_beside(const std::string& path) {
  for (const char* name : {"/site-packages/", "/dist-packages/"})
    if (size_t at = path.rfind(name); at != std::string::npos)
      return path.substr(0, at + 15) + "nvidia";
  return {};
}

} // namespace

std::vector<std::string> driver_folders(const Source& source) {
  std::vector<std::string> list;
  for (const char* folder : kDriverFolders)
    add_folder(source, folder, list);
  return list;
}

std::vector<std::string> toolkit_folders(const Source& source) {
  std::vector<std::string> toolkits = matching(source, "/usr/local", "cuda*");
  for (const char* folder : {"/opt/cuda", "/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"})
    toolkits.emplace_back(folder);
  for (const char* parent : {"/opt", "/opt/nvidia"})
    for (std::string& folder : matching(source, parent, "cuda-*"))
      toolkits.push_back(std::move(folder));
  std::vector<std::string> list;
  for (const std::string& toolkit : toolkits) {
    add_folder(source, toolkit + "/lib64", list);
    add_folder(source, toolkit + "/lib", list);
    for (const std::string& target : matching(source, toolkit + "/targets", "*-linux"))
      add_folder(source, target + "/lib", list);
  }
  return list;
}

std::vector<std::string> files_elsewhere(LibrarySearch& search, const std::string& name,
                                         const std::string& asking) {
  std::vector<std::string> found, seen;
  if (name.empty() || name.find('/') != std::string::npos) return found;
  const Source& source = search.source();
  std::vector<std::string> folders = driver_folders(source);
  for (const LoaderState::Folder& folder : search.setup().conf_folders)
    folders.push_back(folder.path);
  for (std::string& folder : toolkit_folders(source))
    folders.push_back(std::move(folder));
  if (std::string wheels = wheels_beside(asking); !wheels.empty())
    for (const std::string& wheel : matching(source, wheels, "*"))
      folders.push_back(wheel + "/lib");
  for (const std::string& folder : folders) {
    const LibrarySearch::File& file = search.look_at(folder + "/" + name);
    if (!file.why_not.empty() || found.size() >= kMostShown) continue;
    if (std::find(seen.begin(), seen.end(), file.real_path) != seen.end()) continue;
    seen.push_back(file.real_path);
    found.push_back(folder + "/" + name);
  }
  return found;
}

} // namespace gpuvet
