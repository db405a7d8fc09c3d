#include "probe/software/libraries.hpp"

#include "os/file_tree.hpp"
#include "probe/software/cuda_library.hpp"
#include "probe/software/text.hpp"

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

// Debian's folders carry the machine's name.
constexpr const char* kDefaultFolders[] = {"/usr/lib/x86_64-linux-gnu",
                                           "/usr/lib/aarch64-linux-gnu",
                                           "/usr/lib64",
                                           "/usr/lib",
                                           "/lib64",
                                           "/lib",
                                           "/usr/local/lib64",
                                           "/usr/local/lib",
                                           "/usr/lib/wsl/lib"};

void add_configured(const Source& source, const std::string& file,
                    std::vector<std::string>& folders) {
  for (const std::string& line : lines(source, file)) {
    std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.starts_with('/')) folders.emplace_back(text);
  }
}

std::vector<std::string> library_folders(const Source& source, const Environment& environment,
                                         const std::vector<InstalledToolkit>& toolkits) {
  std::vector<std::string> folders(std::begin(kDefaultFolders), std::end(kDefaultFolders));
  add_configured(source, "/etc/ld.so.conf", folders);
  for (const std::string& file : matching(source, "/etc/ld.so.conf.d", "*.conf"))
    add_configured(source, file, folders);
  for (const std::string& folder : folders_of(variable(environment, "LD_LIBRARY_PATH")))
    if (folder.starts_with('/')) folders.push_back(folder);
  for (const InstalledToolkit& toolkit : toolkits) {
    if (toolkit.origin == Origin::conda || toolkit.origin == Origin::pip) continue;
    folders.push_back(toolkit.folder + "/lib64");
    folders.push_back(toolkit.folder + "/lib");
    for (const std::string& target : matching(source, toolkit.folder + "/targets", "*"))
      folders.push_back(target + "/lib");
  }
  return folders;
}

// Those of Python environments are listed with them.
bool belongs_to_python(std::string_view folder) {
  return holds_word(folder, "/site-packages") || holds_word(folder, "/dist-packages");
}

// NCCL carries its version as text, which the name of a bare "libnccl.so.2" does not tell.
void read_nccl_version(const Source& source, CudaLibrary& library) {
  if (library.kind != "nccl" || !library.file.version.empty()) return;
  auto text = source.text_after(library.file.real_path, "NCCL version ");
  if (!text) return;
  size_t end = std::min(text->find_first_not_of("0123456789."), text->size());
  library.file.version = text->substr(0, end);
}

} // namespace

std::vector<CudaLibrary> find_libraries(const Source& source, const Environment& environment,
                                        const std::vector<InstalledToolkit>& toolkits) {
  std::vector<CudaLibrary> libraries;
  std::set<std::string> folders_seen, files_seen;
  for (const std::string& folder : library_folders(source, environment, toolkits)) {
    auto real = source.real_path(folder);
    if (!real || belongs_to_python(*real) || !folders_seen.insert(*real).second) continue;
    for (CudaLibrary& library : list_cuda_libraries(source, *real)) {
      if (!files_seen.insert(library.file.real_path).second) continue;
      read_nccl_version(source, library);
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

std::vector<CudnnHeader> find_cudnn_headers(const Source& source, const Environment& environment,
                                            const std::vector<InstalledToolkit>& toolkits) {
  std::vector<std::string> folders = {"/usr/include", "/usr/local/include",
                                      "/usr/include/x86_64-linux-gnu",
                                      "/usr/include/aarch64-linux-gnu"};
  for (const InstalledToolkit& toolkit : toolkits) {
    folders.push_back(toolkit.folder + "/include");
    for (const std::string& target : matching(source, toolkit.folder + "/targets", "*"))
      folders.push_back(target + "/include");
  }
  for (const char* name : {"CUDNN_PATH", "CUDNN_HOME", "CONDA_PREFIX"})
    if (std::string folder = variable(environment, name); !folder.empty())
      folders.push_back(join_path(folder, "include"));
  std::vector<CudnnHeader> headers;
  std::set<std::string> seen;
  for (const std::string& folder : folders) {
    // cuDNN 7 and older have it in cudnn.h itself; later ones in a header of its own.
    for (const char* name :
         {"cudnn_version.h", "cudnn_version_v9.h", "cudnn_version_v8.h", "cudnn.h"}) {
      std::string file = join_path(folder, name);
      auto real = source.real_path(file);
      if (!real || !seen.insert(*real).second) continue;
      std::string version = cudnn_header_version(source, file);
      if (!version.empty()) headers.push_back({.file = file, .version = version});
    }
  }
  return headers;
}

} // namespace gpuvet
