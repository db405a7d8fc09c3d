#include "base/text.hpp"
#include "model/machine/compat_folder.hpp"
#include "probe/loader/elsewhere.hpp"
#include "probe/loader/probe_loader.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace gpuvet {
namespace {

// A toolkit's stub of libcuda is small; the driver's has tens of megabytes.
constexpr uint64_t kLargestStub = 400'000;

// Every folder where a libcuda may lie, in an order that a person would look in.
std::vector<std::string> folders_to_list(LibrarySearch& search) {
  const LoaderSetup& setup = search.setup();
  const Source& source = search.source();
  std::vector<std::string> folders = setup.default_folders;
  auto add = [&](const std::string& folder) {
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  };
  for (const std::string& folder : split_at(setup.library_path, ':'))
    add(folder);
  for (const LoaderState::Folder& folder : setup.conf_folders)
    add(folder.path);
  if (setup.cache)
    for (const LdCacheEntry& entry : setup.cache->entries)
      if (entry.soname.starts_with("libcuda.so") || entry.soname.starts_with("libnvidia-ml.so"))
        add(folder_of_path(entry.path));
  for (const std::string& folder : driver_folders(source))
    add(folder);
  for (const std::string& folder : toolkit_folders(source))
    add(folder + "/stubs");
  for (const char* parent : {"/usr/local", "/opt"})
    for (const std::string& toolkit : matching(source, parent, "cuda*"))
      for (const char* compat : {"/compat", "/compat/lib", "/compat/lib.real", "/compat_orin"})
        add(toolkit + compat);
  return folders;
}

// "550.54.15" of ".../libcuda.so.550.54.15"; empty where the name has a soname's number only.
std::string driver_version(const std::string& path) {
  size_t at = path.rfind(".so.");
  if (at == std::string::npos) return {};
  std::string version = path.substr(at + 4);
  bool plain = !version.empty() && std::all_of(version.begin(), version.end(), [](char c) {
    return c == '.' || std::isdigit(static_cast<unsigned char>(c));
  });
  return plain && version.find('.') >= 3 && version.find('.') != std::string::npos ? version : "";
}

bool under(const std::string& path, std::string_view part) {
  return path.find(part) != std::string::npos;
}

LibraryFile library_file(LibrarySearch& search, const std::string& path) {
  const LibrarySearch::File& known_file = search.look_at(path);
  LibraryFile file;
  file.path = path;
  file.real_path = known_file.real_path;
  file.version = driver_version(file.real_path);
  if (auto entry = search.source().entry(file.real_path)) file.size = entry->size;
  if (known_file.elf) {
    file.readable = true;
    file.forward_compatibility = known_file.elf->forward_compatibility;
  } else if (known_file.why_not.find("permission denied") != std::string::npos) {
    file.readable = false;
  }
  file.compat = in_compat_folder(path) || in_compat_folder(file.real_path);
  // Windows' own libcuda for WSL is small too: it only passes calls on.
  bool of_windows = under(path, "/wsl/lib/") || under(file.real_path, "/wsl/");
  file.stub = under(path, "/stubs/") || under(file.real_path, "/stubs/") ||
              (path.find("/libcuda.so") != std::string::npos && file.size > 0 && !of_windows &&
               file.size < kLargestStub && file.version.empty());
  if (file.stub) file.origin = Origin::toolkit_stub;
  if (file.compat) file.origin = Origin::compat_package;
  return file;
}

// The files of one library: each once, under its own name rather than a link's.
struct Files {
  std::map<std::string, size_t> by_real_path;
  std::vector<LibraryFile> list;

  void add(LibraryFile file) {
    auto [at, is_new] = by_real_path.emplace(file.real_path, list.size());
    if (is_new)
      list.push_back(std::move(file));
    else if (file.path.substr(file.path.rfind('/')) ==
             file.real_path.substr(file.real_path.rfind('/')))
      list[at->second] = std::move(file);
  }
};

void list_files(LibrarySearch& search, DriverFiles& files) {
  Files cuda, ml, ptx;
  std::set<std::string> seen; // real folders
  for (const std::string& folder : folders_to_list(search)) {
    auto real = search.source().real_path(folder);
    if (!real || !seen.insert(*real).second) continue;
    auto names = search.source().list(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      Files* to = name.starts_with("libcuda.so")                    ? &cuda
                  : name.starts_with("libnvidia-ml.so")             ? &ml
                  : name.starts_with("libnvidia-ptxjitcompiler.so") ? &ptx
                                                                    : nullptr;
      if (to == nullptr) continue;
      std::string path = folder + "/" + name;
      const LibrarySearch::File& file = search.look_at(path);
      // Of another processor or word size, or a link that leads nowhere.
      bool unreadable = file.why_not.find("permission denied") != std::string::npos;
      if (file.why_not.empty() || unreadable) to->add(library_file(search, path));
    }
  }
  files.libcuda = std::move(cuda.list);
  files.libnvidia_ml = std::move(ml.list);
  files.ptxjitcompiler = std::move(ptx.list);
}

// The version of the driver's own libcuda: behind stubs and compat libraries there is another.
Observed<std::string> user_version(LibrarySearch& search, const LoadEdge& found) {
  std::vector<std::string> paths;
  if (!found.path.empty()) paths.push_back(found.path);
  for (const Candidate& candidate : found.tried)
    if (candidate.why_not == "shadowed") paths.push_back(candidate.path);
  if (paths.empty()) return unknown<std::string>("the loader finds no libcuda.so.1");
  for (const std::string& path : paths) {
    LibraryFile file = library_file(search, path);
    if (file.stub || file.compat) continue;
    if (file.version.empty())
      return unknown<std::string>("the name of " + file.real_path + " tells no version");
    return known(file.version, file.real_path);
  }
  return unknown<std::string>("the loader finds only " + paths.front() +
                              ", which is not the driver's own");
}

std::string find_nvidia_smi(const Source& source) {
  std::vector<std::string> folders = split_at(source.environment()["PATH"], ':');
  for (const char* folder : {"/usr/bin", "/usr/local/bin", "/usr/lib/wsl/lib", "/opt/bin",
                             "/usr/local/nvidia/bin", "/home/kubernetes/bin/nvidia/bin"})
    folders.emplace_back(folder);
  for (const std::string& folder : folders)
    if (!folder.empty() && exists(source, folder + "/nvidia-smi")) return folder + "/nvidia-smi";
  return {};
}

} // namespace

DriverFiles find_driver_files(LibrarySearch& search) {
  DriverFiles files;
  list_files(search, files);
  LoadEdge cuda = search.find("libcuda.so.1", {});
  files.user_version = user_version(search, cuda);
  files.resolved_libcuda = cuda.real_path;
  files.resolved_libnvidia_ml = search.find("libnvidia-ml.so.1", {}).real_path;
  files.libcuda_unversioned = !search.find("libcuda.so", {}).path.empty();
  files.nvidia_uninstall = exists(search.source(), "/usr/bin/nvidia-uninstall");
  files.nvidia_smi = find_nvidia_smi(search.source());
  return files;
}

} // namespace gpuvet
