#include "probe/python/extensions.hpp"

#include "os/file_tree.hpp"
#include "probe/python/requirement.hpp"
#include "probe/software/toolkits.hpp"

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

// c10::detail::torchCheckFail(char const*, char const*, unsigned, std::string const&), which every
// TORCH_CHECK calls. What follows names std::string: "Ss" of the old ABI, "NSt7__cxx11..." of the
// new one (Itanium C++ ABI; GCC manual, "Dual ABI").
const std::string kCheckFail = "_ZN3c106detail14torchCheckFailEPKcS2_jRK";

bool belongs_to_torch(std::string_view soname) {
  return soname.starts_with("libc10") || soname.starts_with("libtorch");
}

// Other libraries are the system's business, and an image may lack them for a reason.
bool is_of_interest(std::string_view soname) {
  return belongs_to_torch(soname) || soname.starts_with("libcu") || soname.starts_with("libnv") ||
         soname.starts_with("libnccl");
}

// A library that lies in a wheel is not missing: what was imported before may have loaded it.
bool lies_in_wheel(const std::vector<CudaLibrary>& libraries, const std::string& soname) {
  return std::any_of(libraries.begin(), libraries.end(), [&](const CudaLibrary& library) {
    return base_name(library.file.path) == soname || base_name(library.file.real_path) == soname;
  });
}

// CuPy looks into a toolkit by itself before the loader is asked.
bool lies_in_toolkit(const Source& source, const std::string& soname) {
  auto environment = source.environment();
  for (const std::string& folder :
       {variable(environment, "CUDA_PATH"), variable(environment, "CUDA_HOME"),
        std::string("/usr/local/cuda")})
    if (!folder.empty() && exists(source, folder + "/lib64/" + soname)) return true;
  return false;
}

bool calls_torch(const LoadNode& node) {
  return node.elf && std::any_of(node.elf->needed.begin(), node.elf->needed.end(),
                                 [](const std::string& name) { return belongs_to_torch(name); });
}

PythonEnv::Extension described(const Source& source, const PythonEnv& env,
                               const std::string& package, const LoadNode& node,
                               const std::vector<CudaLibrary>& libraries) {
  PythonEnv::Extension extension;
  extension.package = normalised_package(package);
  extension.file = node.path;
  for (const LoadEdge& edge : node.needs)
    if (edge.rule == FoundBy::not_found && is_of_interest(edge.name) &&
        !lies_in_wheel(libraries, edge.name)) {
      extension.missing_needed.push_back(edge.name);
      extension.elsewhere.insert(extension.elsewhere.end(), edge.elsewhere.begin(),
                                 edge.elsewhere.end());
    }
  extension.lost_run_paths = node.lost_run_paths;
  if (package == "cupy")
    std::erase_if(extension.missing_needed,
                  [&](const std::string& name) { return lies_in_toolkit(source, name); });
  if (!calls_torch(node)) return extension;
  extension.abi = cxx_abi_of(source, node.path);
  auto own = env.torch.find("cxx11_abi");
  if (extension.abi.empty() || own == env.torch.end()) return extension;
  if ((extension.abi == "cxx11") != (own->second == "1"))
    if (auto tail = source.text_after(node.path, kCheckFail))
      extension.undefined.push_back(kCheckFail + *tail);
  return extension;
}

} // namespace

std::string cxx_abi_of(const Source& source, const std::string& file) {
  auto tail = source.text_after(file, kCheckFail);
  if (!tail) return {};
  if (tail->starts_with("Ss")) return "old";
  return tail->starts_with("NSt7__cxx11") ? "cxx11" : std::string();
}

void read_extensions(const Source& source, const std::vector<PackageTree>& trees,
                     const std::vector<CudaLibrary>& libraries, PythonEnv& env) {
  std::vector<PythonEnv::Extension>& extensions = env.extensions;
  if (!env.packages || env.packages->empty()) return;
  std::set<std::string> unversioned;
  bool any_told = false;
  for (const PackageTree& package : trees) {
    for (const LoadNode& node : package.tree.nodes) {
      if (!node.elf || !node.elf->unversioned_entry) continue;
      any_told = true;
      if (*node.elf->unversioned_entry) unversioned.insert(node.path);
    }
    if (package.package == "torch" || package.tree.nodes.empty()) continue;
    // What the import itself opens hangs on the interpreter, which is the first node.
    for (const LoadEdge& opened : package.tree.nodes.front().needs) {
      if (opened.rule != FoundBy::dlopen || opened.node >= package.tree.nodes.size()) continue;
      if (!opened.by.starts_with("opened by import " + package.package)) continue;
      const LoadNode& node = package.tree.nodes[opened.node];
      auto extension = described(source, env, package.package, node, libraries);
      if (calls_torch(node) || !extension.missing_needed.empty())
        extensions.push_back(std::move(extension));
    }
  }
  if (any_told) env.unversioned_entry.emplace(unversioned.begin(), unversioned.end());
}

} // namespace gpuvet
