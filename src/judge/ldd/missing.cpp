// What is not found, who wants it, and where it lies.
#include "judge/ldd/cuda_names.hpp"
#include "judge/ldd/tree_checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

constexpr size_t kNamesShown = 3;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// One missing name, with everybody who needs it.
struct Missing {
  const LoadEdge* edge = nullptr;
  std::vector<std::string> needed_by;
};

std::map<std::string, Missing> missing_of(const LoadTree& tree) {
  std::map<std::string, Missing> missing;
  for (const LoadNode& node : tree.nodes)
    for (const LoadEdge& edge : node.needs) {
      if (edge.rule != FoundBy::not_found || edge.at_run_time) continue;
      Missing& one = missing[edge.name];
      if (one.edge == nullptr || one.edge->elsewhere.size() < edge.elsewhere.size())
        one.edge = &edge;
      one.needed_by.push_back(node.path);
    }
  return missing;
}

std::string shown(const std::vector<std::string>& paths) {
  std::string text;
  for (size_t i = 0; i < paths.size() && i < kNamesShown; ++i)
    text += (i ? ", " : "") + paths[i];
  if (paths.size() > kNamesShown) text += fmt::format(" and {} more", paths.size() - kNamesShown);
  return text;
}

// A file that was there and did not serve says more than "not found".
std::string cause_of(const LoadEdge& edge) {
  for (const Candidate& candidate : edge.tried) {
    if (candidate.path.empty() || candidate.why_not == "no such file" ||
        candidate.why_not == "no such folder")
      continue;
    return fmt::format("{} is there, but not taken: {}", candidate.path, candidate.why_not);
  }
  if (!edge.elsewhere.empty()) return "it is on this machine, where the loader does not look";
  return {};
}

std::vector<std::string> fixes_for(const LoadEdge& edge, bool python) {
  std::vector<std::string> fixes;
  if (!edge.elsewhere.empty()) {
    std::string folder = folder_of(edge.elsewhere.front());
    fixes.push_back(fmt::format("for one run: LD_LIBRARY_PATH={}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_"
                                "PATH}}",
                                folder));
    if (!in_python(folder))
      fixes.push_back(fmt::format("for good, as root: echo {} > /etc/ld.so.conf.d/{}.conf && "
                                  "ldconfig",
                                  folder, cuda_name(edge.name).library.empty() ? "extra" : "cuda"));
    return fixes;
  }
  if (edge.name.starts_with("libtorch") || edge.name.starts_with("libc10"))
    return {"it belongs to PyTorch, which loads it when it is imported: import torch first (gpuvet "
            "ldd --python EXE looks at that)"};
  if (edge.name.starts_with("libpython"))
    return {
        "the interpreter offers it when the file is imported; ask with gpuvet ldd --python EXE"};
  return commands_for(edge.name, python);
}

} // namespace

void find_missing(const LddSubject& subject, Findings& findings) {
  for (const auto& [name, missing] : missing_of(subject.tree)) {
    Finding finding;
    finding.id = "ldd-missing";
    finding.state = State::fault;
    const std::vector<std::string>& by = missing.needed_by;
    const std::string& asked = subject.tree.nodes[0].path;
    bool itself = by.size() == 1 && by.front() == asked;
    if (itself || asked.empty())
      finding.title = name + " is not found";
    else
      finding.title =
          fmt::format("{} is not found; {} need{} it", name,
                      by.size() == 1 ? name_of(by.front()) : fmt::format("{} files", by.size()),
                      by.size() == 1 ? "s" : "");
    finding.cause = cause_of(*missing.edge);
    if (!asked.empty()) finding.evidence.push_back("needed by " + shown(by));
    for (const std::string& path : missing.edge->elsewhere)
      finding.evidence.push_back("there is " + path);
    bool python = std::any_of(by.begin(), by.end(), in_python);
    finding.fixes = fixes_for(*missing.edge, python);
    findings.push_back(std::move(finding));
  }
}

} // namespace gpuvet
