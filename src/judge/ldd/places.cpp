// Files in places where they should not be taken from, run paths that lead nowhere, and what a
// running process has that the loader would not choose now.
#include "base/text.hpp"
#include "judge/ldd/cuda_names.hpp"
#include "judge/ldd/tree_checks.hpp"
#include "model/machine/compat_folder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

constexpr size_t kShown = 6;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

bool under(const LoadNode& node, std::string_view part) {
  return node.path.find(part) != std::string::npos ||
         node.real_path.find(part) != std::string::npos;
}

Finding stub_finding(const LoadTree& tree, size_t node) {
  const LoadNode& there = tree.nodes[node];
  Finding finding;
  finding.id = "ldd-stub";
  finding.state = State::fault;
  finding.title = fmt::format("{} is the toolkit's stub, which is for linking only", there.path);
  finding.evidence.push_back("found by " + way_to(tree, node));
  finding.cause = "every CUDA call fails: CUDA_ERROR_STUB_LIBRARY (34), or no symbol is found";
  finding.fixes.push_back(
      fmt::format("take {} out of LD_LIBRARY_PATH and run paths; it belongs into "
                  "the linker's -L only",
                  folder_of(there.path)));
  return finding;
}

Finding compat_finding(const LoadTree& tree, size_t node) {
  const LoadNode& there = tree.nodes[node];
  Finding finding;
  finding.id = "ldd-compat";
  finding.state = State::info;
  finding.title = fmt::format("{} is of cuda-compat (forward compatibility)", there.path);
  finding.evidence.push_back("found by " + way_to(tree, node));
  if (there.elf && !there.elf->forward_compatibility.empty())
    finding.evidence.push_back("it says: " + there.elf->forward_compatibility);
  finding.cause = "it works on data-center GPUs with the kernel modules that it names; elsewhere "
                  "CUDA fails with error 803 or 804";
  return finding;
}

std::string list_of(const std::vector<std::string>& names) {
  std::vector<std::string> some(
      names.begin(), names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kShown)));
  std::string text = joined(some);
  if (names.size() > some.size()) text += fmt::format(" and {} more", names.size() - some.size());
  return text;
}

} // namespace

bool in_python(const std::string& path) {
  return path.find("/site-packages/") != std::string::npos ||
         path.find("/dist-packages/") != std::string::npos;
}

const LoadEdge* edge_to(const LoadTree& tree, size_t node) {
  for (const LoadNode& from : tree.nodes)
    for (const LoadEdge& edge : from.needs)
      if (edge.node == node && edge.rule != FoundBy::already_loaded) return &edge;
  return nullptr;
}

std::string way_to(const LoadTree& tree, size_t node) {
  const LoadEdge* edge = edge_to(tree, node);
  return edge != nullptr ? edge->by : "";
}

void find_odd_drivers(const LoadTree& tree, Findings& findings) {
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const LoadNode& node = tree.nodes[i];
    std::string library = cuda_name(node.soname).library;
    bool root = i == 0 && !node.path.empty(); // somebody asked about the file itself
    if (root || (library != "cuda" && library != "nvidia-ml")) continue;
    if (under(node, "/stubs/"))
      findings.push_back(stub_finding(tree, i));
    else if (in_compat_folder(node.path) || in_compat_folder(node.real_path))
      findings.push_back(compat_finding(tree, i));
  }
}

void find_lost_run_paths(const LoadTree& tree, Findings& findings) {
  std::map<std::string, std::vector<std::string>> lost; // folder, files
  for (const LoadNode& node : tree.nodes)
    for (const std::string& folder : node.lost_run_paths)
      lost[folder].push_back(node.path);
  if (lost.empty()) return;
  Finding finding;
  finding.id = "ldd-run-path";
  finding.state = State::info;
  finding.title = lost.size() == 1
                      ? "a run path names a folder that does not exist"
                      : fmt::format("run paths name {} folders that do not exist", lost.size());
  size_t told = 0;
  for (const auto& [folder, files] : lost)
    if (told++ < kShown) finding.evidence.push_back(fmt::format("{}: {}", folder, list_of(files)));
  if (lost.size() > kShown)
    finding.evidence.push_back(fmt::format("and {} more folders", lost.size() - kShown));
  finding.cause = "left over from the machine where the files were built; whoever can make such a "
                  "folder decides what is loaded";
  findings.push_back(std::move(finding));
}

void find_changes(const LddSubject& subject, Findings& findings) {
  if (!subject.deleted.empty()) {
    Finding finding;
    finding.id = "ldd-deleted";
    finding.state = State::warning;
    finding.title =
        fmt::format("{} mapped file{} replaced or removed since the process started",
                    subject.deleted.size(), subject.deleted.size() == 1 ? " was" : "s were");
    finding.evidence.push_back(list_of(subject.deleted));
    finding.fixes.emplace_back("restart the process");
    findings.push_back(std::move(finding));
  }
  if (!subject.now) return;
  std::map<std::string, const LoadNode*> now;
  for (const LoadNode& node : subject.now->nodes)
    if (!node.soname.empty()) now.emplace(node.soname, &node);
  Finding finding;
  for (const LoadNode& node : subject.tree.nodes) {
    auto at = now.find(node.soname);
    if (node.soname.empty() || at == now.end() || at->second->real_path == node.real_path) continue;
    finding.evidence.push_back(
        fmt::format("{}: loaded {}, now {}", node.soname, node.real_path, at->second->real_path));
  }
  if (finding.evidence.empty()) return;
  finding.id = "ldd-changed";
  finding.state = State::warning;
  finding.title = fmt::format("the loader would choose {} other file{} now than the process has",
                              finding.evidence.size(), finding.evidence.size() == 1 ? "" : "s");
  finding.cause = "the process loaded them by path, was started with other settings, or files "
                  "changed since";
  findings.push_back(std::move(finding));
}

} // namespace gpuvet
