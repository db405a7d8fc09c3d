#include "probe/python/python_packages.hpp"

#include "os/file_tree.hpp"
#include "probe/python/gpu_packages.hpp"
#include "probe/python/requirement.hpp"
#include "probe/software/text.hpp"

#include <set>

namespace gpuvet {
namespace {

constexpr size_t kLargestMetadata = size_t{2} << 20;
constexpr size_t kMostPackages = 2000; // of one environment; more is not an environment

struct Read {
  PythonPackage package;
  std::vector<Requirement> needs;
};

// Headers of a METADATA or PKG-INFO file; the description follows after an empty line.
void read_metadata(std::string_view text, Read& read) {
  bool done = false;
  each_line(text, [&](std::string_view line) {
    if (done || line.empty()) {
      done = true;
      return;
    }
    if (line.starts_with("Version:")) read.package.version = trimmed(line.substr(8));
    if (line.starts_with("Name:")) read.package.name = normalised_package(trimmed(line.substr(5)));
    if (!line.starts_with("Requires-Dist:")) return;
    Requirement need = parse_requirement(trimmed(line.substr(14)));
    if (is_gpu_package(need.name)) read.needs.push_back(std::move(need));
  });
}

// "torch-2.6.0+cu124.dist-info" -> name and version. Old egg names go on with "-py3.11".
Read from_name(std::string_view entry, const std::string& folder) {
  Read read;
  read.package.folder = folder;
  entry = entry.substr(0, entry.rfind('.'));
  size_t dash = entry.find('-');
  read.package.name = normalised_package(entry.substr(0, dash));
  if (dash == std::string_view::npos) return read;
  std::string_view version = entry.substr(dash + 1);
  read.package.version = version.substr(0, version.find('-'));
  return read;
}

void read_folder(const Source& source, const std::string& folder, std::vector<Read>& found) {
  auto names = source.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    bool dist = name.ends_with(".dist-info"), egg = name.ends_with(".egg-info");
    if ((!dist && !egg) || found.size() == kMostPackages) continue;
    Read read = from_name(name, folder);
    if (!is_gpu_package(read.package.name)) continue;
    std::string path = join_path(folder, name);
    auto text = source.read_file(path + (dist ? "/METADATA" : "/PKG-INFO"), kLargestMetadata);
    if (!text && egg) text = source.read_file(path, kLargestMetadata);
    if (text) read_metadata(*text, read);
    if (dist) read.package.installer = first_line(source, path + "/INSTALLER");
    found.push_back(std::move(read));
  }
}

// "pytorch-2.5.1-py3.12_cuda12.4_cudnn9.1.0_0.json"
void read_conda(const Source& source, const std::string& prefix, std::vector<Read>& found) {
  const std::string folder = prefix + "/conda-meta";
  auto names = source.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.ends_with(".json") || found.size() == kMostPackages) continue;
    std::string_view entry = std::string_view(name).substr(0, name.size() - 5);
    size_t build = entry.rfind('-');
    if (build == std::string_view::npos || build == 0) continue;
    size_t version = entry.rfind('-', build - 1);
    if (version == std::string_view::npos) continue;
    std::string package = normalised_package(entry.substr(0, version));
    if (!is_gpu_package(package)) continue;
    Read read;
    read.package.name = std::move(package);
    read.package.version = entry.substr(version + 1, build - version - 1);
    read.package.build = entry.substr(build + 1);
    read.package.folder = folder;
    read.package.conda = true;
    found.push_back(std::move(read));
  }
}

// Extras that other packages ask for: torch needs cuda-toolkit[cudart], whose pins then count.
std::map<std::string, std::set<std::string>>
wanted_extras(const std::vector<Read>& found, const std::map<std::string, std::string>& values) {
  std::map<std::string, std::set<std::string>> extras;
  for (const Read& read : found)
    for (const Requirement& need : read.needs)
      if (!need.extras.empty() && condition_holds(need.condition, values, {}))
        extras[need.name].insert(need.extras.begin(), need.extras.end());
  return extras;
}

} // namespace

std::vector<PythonPackage> read_python_packages(const Source& source,
                                                const std::vector<std::string>& folders,
                                                const std::string& conda_prefix,
                                                const std::map<std::string, std::string>& values) {
  std::vector<Read> found;
  for (const std::string& folder : folders)
    read_folder(source, folder, found);
  if (!conda_prefix.empty()) read_conda(source, conda_prefix, found);
  auto extras = wanted_extras(found, values);
  std::vector<PythonPackage> packages;
  for (Read& read : found) {
    for (const Requirement& need : read.needs)
      if (!need.versions.empty() &&
          condition_holds(need.condition, values, extras[read.package.name]))
        read.package.pins.push_back(need.name + need.versions);
    packages.push_back(std::move(read.package));
  }
  return packages;
}

} // namespace gpuvet
