#include "probe/python/package_code.hpp"

#include "os/file_tree.hpp"
#include "probe/python/gpu_packages.hpp"

#include <algorithm>
#include <future>
#include <set>

namespace gpuvet {
namespace {

constexpr size_t kMostFiles = 4; // of one place; variants of the same kernels

std::vector<std::string> folders_at(const Source& source, const std::string& base,
                                    const std::string& folder) {
  if (folder.find('*') == std::string::npos)
    return {folder.empty() ? base : join_path(base, folder)};
  return matching(source, join_path(base, parent_folder(folder)), base_name(folder));
}

// bitsandbytes has one library for each CUDA release and loads the one of torch's.
std::vector<std::string> loaded_ones(std::vector<std::string> files, const PythonEnv& env) {
  if (files.size() <= 1 || base_name(files.front()).find("bitsandbytes_cuda") == std::string::npos)
    return files;
  auto cuda = env.torch.find("cuda");
  std::string release = cuda == env.torch.end() ? std::string() : cuda->second;
  release.erase(std::remove(release.begin(), release.end(), '.'), release.end());
  for (const std::string& file : files)
    if (base_name(file) == "libbitsandbytes_cuda" + release + ".so") return {file};
  return {files.back()};
}

struct Wanted {
  std::string package, file;
};

void add_place(const Source& source, const PythonEnv& env, const PythonPackage& package,
               const CodePlace& place, std::set<std::string>& seen, std::vector<Wanted>& wanted) {
  std::vector<std::string> bases = {package.folder};
  if (package.conda) bases = env.folders;
  for (const std::string& base : bases)
    for (const std::string& folder : folders_at(source, base, std::string(place.folder))) {
      auto files = loaded_ones(matching(source, folder, std::string(place.files)), env);
      for (size_t i = 0; i < files.size() && i < kMostFiles; ++i)
        if (seen.insert(files[i]).second) wanted.push_back({package.name, files[i]});
    }
}

PackageCode read_one(const Source& source, const Wanted& wanted) {
  auto code = source.gpu_code(wanted.file);
  PackageCode told;
  if (code) told = std::move(*code);
  told.package = wanted.package;
  told.file = wanted.file;
  if (!code) {
    told.sass = unknown<std::vector<Target>>(code.error().what);
    told.ptx = unknown<std::vector<Target>>(code.error().what);
  }
  return told;
}

} // namespace

// Libraries of gigabytes: all at once, each on a thread of its own.
std::vector<PackageCode> read_package_code(const Source& source, const PythonEnv& env) {
  std::vector<PackageCode> found;
  if (!env.packages) return found;
  std::set<std::string> seen;
  std::vector<Wanted> wanted;
  for (const PythonPackage& package : *env.packages)
    for (const CodePlace& place : code_places(package.name))
      add_place(source, env, package, place, seen, wanted);
  std::vector<std::future<PackageCode>> readings;
  for (const Wanted& one : wanted)
    readings.push_back(
        std::async(std::launch::async, [&source, &one] { return read_one(source, one); }));
  for (std::future<PackageCode>& reading : readings)
    found.push_back(reading.get());
  return found;
}

} // namespace gpuvet
