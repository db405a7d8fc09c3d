// Libraries of several CUDA or cuDNN releases in one process.
#include "base/text.hpp"
#include "base/version.hpp"
#include "judge/ldd/cuda_names.hpp"
#include "judge/ldd/tree_checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace gpuvet {
namespace {

constexpr size_t kFilesShown = 6;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// The longest version that the names of a file tell: "9.1.0" of "libcudnn.so.9.1.0".
std::string file_version(const LoadNode& node) {
  size_t at = node.real_path.rfind(".so.");
  std::string version = at == std::string::npos ? "" : node.real_path.substr(at + 4);
  return std::count(version.begin(), version.end(), '.') >= 2 ? version : "";
}

std::string told(const LoadTree& tree, size_t node) {
  std::string way = way_to(tree, node);
  return tree.nodes[node].path + (way.empty() ? "" : "  (" + way + ")");
}

using ByMajor = std::map<uint32_t, std::vector<size_t>>;

ByMajor nodes_by_cuda(const LoadTree& tree) {
  ByMajor majors;
  for (size_t i = 0; i < tree.nodes.size(); ++i)
    if (uint32_t cuda = cuda_name(tree.nodes[i].soname).cuda) majors[cuda].push_back(i);
  return majors;
}

// Two files of one library, or of one soname.
void find_doubles(const LoadTree& tree, Findings& findings) {
  std::map<std::string, std::vector<size_t>> by_library;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    CudaName name = cuda_name(tree.nodes[i].soname);
    if (!name.library.empty()) by_library[name.library].push_back(i);
  }
  for (const auto& [library, nodes] : by_library) {
    if (nodes.size() < 2) continue;
    Finding finding;
    finding.id = "ldd-two-versions";
    finding.state = library == "cudart" || library == "cuda" ? State::fault : State::warning;
    std::set<std::string> sonames;
    for (size_t node : nodes)
      sonames.insert(tree.nodes[node].soname);
    std::string what = library == "cudart" ? "CUDA runtimes"
                       : library == "cuda" ? "driver libraries"
                                           : "copies of lib" + library;
    finding.title = fmt::format("{} {} in one process: {}", nodes.size(), what,
                                joined({sonames.begin(), sonames.end()}, " and "));
    for (size_t node : nodes)
      finding.evidence.push_back(told(tree, node));
    finding.cause = library == "cudart"
                        ? "each runtime keeps its own state: streams, events and errors of one are "
                          "unknown to the other"
                        : "which of them serves a call depends on the order of loading";
    finding.fixes.emplace_back("use builds for one CUDA version only");
    findings.push_back(std::move(finding));
  }
}

} // namespace

void find_mixtures(const LoadTree& tree, Findings& findings) {
  find_doubles(tree, findings);
  ByMajor majors = nodes_by_cuda(tree);
  bool runtimes_only = true; // then it was told that there are two of them
  for (const auto& [major, nodes] : majors)
    for (size_t node : nodes)
      runtimes_only = runtimes_only && cuda_name(tree.nodes[node].soname).library == "cudart";
  if (majors.size() < 2 || runtimes_only) return;
  Finding finding;
  finding.id = "ldd-cuda-mixture";
  finding.state = State::warning;
  std::vector<std::string> names;
  for (const auto& [major, nodes] : majors) {
    names.push_back(fmt::format("CUDA {}", major));
    for (size_t i = 0; i < nodes.size() && i < kFilesShown; ++i)
      finding.evidence.push_back(fmt::format("CUDA {}: {}", major, told(tree, nodes[i])));
    if (nodes.size() > kFilesShown)
      finding.evidence.push_back(
          fmt::format("CUDA {}: {} more", major, nodes.size() - kFilesShown));
  }
  finding.title = "libraries of " + joined(names, " and ") + " in one process";
  finding.cause = "packages built for different CUDA versions were installed together";
  finding.fixes.emplace_back(
      "install every package in its build for the same CUDA version (cu12 or "
      "cu13 in its name)");
  findings.push_back(std::move(finding));
}

void find_cudnn_mixture(const LoadTree& tree, Findings& findings) {
  std::map<std::string, std::vector<size_t>> folders, versions;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    if (!cuda_name(tree.nodes[i].soname).library.starts_with("cudnn")) continue;
    folders[folder_of(tree.nodes[i].real_path)].push_back(i);
    if (std::string version = file_version(tree.nodes[i]); !version.empty())
      versions[version].push_back(i);
  }
  if (folders.size() < 2) return;
  Finding finding;
  finding.id = "ldd-cudnn-mixture";
  finding.state = versions.size() > 1 ? State::fault : State::warning;
  finding.title = fmt::format("parts of cuDNN come from {} folders", folders.size());
  if (versions.size() > 1) {
    std::vector<std::string> names;
    for (const auto& [version, nodes] : versions)
      names.push_back(version);
    finding.title += " and versions (" + joined(names) + ")";
  }
  for (const auto& [folder, nodes] : folders)
    for (size_t node : nodes)
      finding.evidence.push_back(told(tree, node));
  finding.cause =
      "cuDNN refuses parts of another release: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH";
  finding.fixes.emplace_back(
      "reinstall the one cuDNN that is wanted (pip install --force-reinstall "
      "nvidia-cudnn-cu12) and take the other folder off the loader's path");
  findings.push_back(std::move(finding));
}

} // namespace gpuvet
