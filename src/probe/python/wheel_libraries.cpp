// The CUDA libraries of wheels. Their file names end in the soname, so that the version comes from
// the package that put them there.
#include "os/file_tree.hpp"
#include "probe/python/package_code.hpp"
#include "probe/software/cuda_library.hpp"
#include "probe/software/text.hpp"
#include "probe/software/toolkits.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace gpuvet {
namespace {

struct WheelName {
  std::string_view kind, package; // "nvidia-" before, "-cu12" and the like behind
};
constexpr std::array<WheelName, 10> kWheels = {{{"cudart", "cuda-runtime"},
                                                {"nvrtc", "cuda-nvrtc"},
                                                {"nvjitlink", "nvjitlink"},
                                                {"cublas", "cublas"},
                                                {"cudnn", "cudnn"},
                                                {"nccl", "nccl"},
                                                {"cufft", "cufft"},
                                                {"curand", "curand"},
                                                {"cusolver", "cusolver"},
                                                {"cusparse", "cusparse"}}};

// "nvidia-cudnn-cu12" for "cudnn", but not "nvidia-cudnn-frontend".
bool is_wheel_of(std::string_view package, std::string_view base) {
  constexpr std::string_view kOwner = "nvidia-";
  if (!package.starts_with(kOwner)) return false;
  package.remove_prefix(kOwner.size());
  if (!package.starts_with(base)) return false;
  package.remove_prefix(base.size());
  return package.empty() || (package.starts_with("-cu") && is_number(package.substr(3)));
}

// cuDNN's and NCCL's sonames do not follow CUDA's, so only other libraries tell "-cu11" from
// "-cu12" by their names.
bool fits_soname(const PythonPackage& package, const CudaLibrary& library) {
  size_t mark = package.name.rfind("-cu");
  auto name = parse_library_name(base_name(library.file.path));
  if (mark == std::string::npos || !name || !is_number(package.name.substr(mark + 3))) return true;
  if (library.kind != "cudart" && library.kind != "nvrtc" && library.kind != "nvjitlink" &&
      library.kind != "cublas")
    return true;
  return name->version.substr(0, name->version.find('.')) == package.name.substr(mark + 3);
}

void attribute(const PythonEnv& env, const std::string& folder, CudaLibrary& library) {
  if (!env.packages) return;
  std::vector<const PythonPackage*> owners;
  for (const WheelName& row : kWheels) {
    if (row.kind != library.kind) continue;
    for (const PythonPackage& package : *env.packages)
      if (package.folder == folder && is_wheel_of(package.name, row.package) &&
          fits_soname(package, library))
        owners.push_back(&package);
  }
  for (const PythonPackage* owner : owners) {
    if (!library.file.owner.empty()) library.file.owner += ", ";
    library.file.owner += owner->name;
  }
  // Wheels of two CUDA releases write into the same folder; then nobody knows which one it is.
  if (owners.size() == 1) library.file.version = owners.front()->version;
}

void add_folder(const Source& source, const PythonEnv& env, const std::string& site,
                const std::string& folder, std::set<std::string>& seen,
                std::vector<CudaLibrary>& found) {
  auto real = source.real_path(folder);
  if (!real || !seen.insert(*real).second) return;
  for (CudaLibrary& library : list_cuda_libraries(source, *real)) {
    library.python = site;
    library.file.origin = Origin::pip;
    attribute(env, site, library);
    found.push_back(std::move(library));
  }
}

} // namespace

std::vector<CudaLibrary> python_libraries(const Source& source, const PythonEnv& env) {
  std::vector<CudaLibrary> found;
  std::set<std::string> seen;
  for (const std::string& site : env.folders) {
    for (const std::string& part : matching(source, site + "/nvidia", "*"))
      add_folder(source, env, site, part + "/lib", seen, found);
    for (const char* folder : {"/torch/lib", "/tensorrt_libs", "/tensorrt_cu12_libs"})
      add_folder(source, env, site, site + folder, seen, found);
  }
  if (!is_folder(source, env.prefix + "/conda-meta")) return found;
  auto real = source.real_path(env.prefix + "/lib");
  if (!real) return found;
  for (CudaLibrary& library : list_cuda_libraries(source, *real)) {
    library.python = env.prefix + "/lib";
    library.file.origin = Origin::conda;
    found.push_back(std::move(library));
  }
  return found;
}

std::vector<InstalledToolkit> python_toolkits(const Source& source, const PythonEnv& env) {
  std::vector<InstalledToolkit> toolkits;
  for (const std::string& site : env.folders) {
    std::vector<std::string> folders = matching(source, site + "/nvidia", "cu[0-9]*");
    folders.push_back(site + "/nvidia/cuda_nvcc");
    for (const std::string& folder : folders) {
      auto real = source.real_path(folder);
      if (!real) continue;
      InstalledToolkit toolkit = describe_toolkit(source, *real);
      if (!toolkit.has_nvcc && !toolkit.has_ptxas) continue;
      toolkit.origin = Origin::pip;
      if (env.packages)
        for (const PythonPackage& package : *env.packages)
          if (package.folder == site && is_wheel_of(package.name, "cuda-nvcc"))
            toolkit.owner = package.name;
      toolkits.push_back(std::move(toolkit));
    }
  }
  return toolkits;
}

} // namespace gpuvet
