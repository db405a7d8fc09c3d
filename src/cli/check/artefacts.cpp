#include "cli/check/artefacts.hpp"

#include "cli/scan_inputs.hpp"

#include <filesystem>

namespace gpuvet {
namespace {

namespace fs = std::filesystem;

// Bytes of a file, or of all regular files below a folder; links are not followed.
uint64_t size_on_disk(const std::string& path, std::vector<Error>& errors) {
  std::error_code code;
  fs::file_status status = fs::status(path, code);
  if (code || status.type() == fs::file_type::not_found) return 0; // told by find_inputs
  if (fs::is_regular_file(status)) {
    uint64_t size = fs::file_size(path, code);
    return code ? 0 : size;
  }
  if (!fs::is_directory(status)) return 0;
  uint64_t bytes = 0;
  fs::recursive_directory_iterator at(path, code), end;
  for (; !code && at != end; at.increment(code)) {
    std::error_code own;
    if (at->symlink_status(own).type() != fs::file_type::regular || own) continue;
    uint64_t size = at->file_size(own);
    if (!own) bytes += size;
  }
  if (code) errors.push_back({"the folder cannot be read in full: " + code.message(), path});
  return bytes;
}

InspectOptions inspect_options(const Policy& policy, const LoadRules& rules) {
  InspectOptions options;
  options.kernels = KernelNames::chosen;
  options.wants_kernels = [&](const Container& container) {
    return names_would_help(container, policy, rules);
  };
  options.choose_for_kernels = [&](const std::vector<Container>& containers) {
    return containers_to_name(containers, policy, rules);
  };
  return options;
}

} // namespace

std::vector<Artefact> read_artefacts(const std::vector<std::string>& paths, const Policy& policy,
                                     const LoadRules& rules, const Terminal& progress) {
  std::vector<Artefact> artefacts;
  InspectOptions options = inspect_options(policy, rules);
  for (const std::string& path : paths) {
    Artefact artefact;
    artefact.path = path;
    artefact.bytes = size_on_disk(path, artefact.errors);
    ReadFiles read = read_inputs(find_inputs({path}), options, progress);
    artefact.binaries = std::move(read.binaries);
    artefact.errors.insert(artefact.errors.end(), read.errors.begin(), read.errors.end());
    artefact.compilers = std::move(read.compilers);
    artefacts.push_back(std::move(artefact));
  }
  return artefacts;
}

} // namespace gpuvet
