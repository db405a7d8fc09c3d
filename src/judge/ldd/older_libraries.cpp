// Libraries that are older than what calls them: versions of symbols, and functions.
#include "judge/ldd/cuda_names.hpp"
#include "judge/ldd/tree_checks.hpp"
#include "model/version_gaps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace gpuvet {
namespace {

constexpr size_t kSymbolsShown = 4;

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

size_t node_at(const LoadTree& tree, const std::string& path) {
  for (size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].path == path) return i;
  return SIZE_MAX;
}

// How to get at a newer one: another file behind the one taken, or away from a variable.
void add_ways_out(const LoadTree& tree, size_t provider, std::vector<std::string>& fixes) {
  const LoadEdge* edge = edge_to(tree, provider);
  if (edge == nullptr) return;
  for (const Candidate& candidate : edge->tried)
    if (candidate.why_not == "shadowed") {
      fixes.push_back(fmt::format("take {} out of {}; the loader then finds {}",
                                  folder_of(edge->path),
                                  edge->rule == FoundBy::ld_library_path ? "LD_LIBRARY_PATH"
                                  : edge->rule == FoundBy::cache         ? "/etc/ld.so.conf.d"
                                                                         : "the run path",
                                  candidate.path));
      return;
    }
  if (edge->rule == FoundBy::ld_library_path)
    fixes.emplace_back("unset LD_LIBRARY_PATH, or put a folder with a newer one first");
}

void add_fixes(const LoadTree& tree, const VersionGap& gap, std::vector<std::string>& fixes) {
  add_ways_out(tree, node_at(tree, gap.provider), fixes);
  if (gap.version.starts_with("GLIBC_"))
    fixes.push_back(fmt::format("take a build for older systems (manylinux2014), or run it in a "
                                "container or distribution whose glibc has {}",
                                gap.version));
  else if (gap.library.starts_with("libstdc++") && fixes.empty())
    fixes.emplace_back("install a newer libstdc++ (conda: conda install -c conda-forge "
                       "libstdcxx-ng), or take a build for this system");
  if (fixes.empty()) fixes = commands_for(gap.library, in_python(gap.provider));
}

// Node that holds a library, by its name without version.
size_t node_of_library(const LoadTree& tree, std::string_view library) {
  for (size_t i = 0; i < tree.nodes.size(); ++i)
    if (cuda_name(tree.nodes[i].soname).library == library && tree.nodes[i].symbols) return i;
  return SIZE_MAX;
}

} // namespace

void find_version_gaps(const LoadTree& tree, Findings& findings) {
  for (const VersionGap& gap : version_gaps(tree)) {
    Finding finding;
    finding.id = "ldd-version";
    finding.state = State::fault;
    finding.title = fmt::format("{} needs {} of {}, and {} does not have it",
                                name_of(gap.wanted_by), gap.version, gap.library, gap.provider);
    finding.evidence.push_back("wanted by " + gap.wanted_by);
    if (!gap.has.empty())
      finding.evidence.push_back(fmt::format("{} ends at {}", gap.provider, gap.has));
    finding.evidence.push_back("found by " + way_to(tree, node_at(tree, gap.provider)));
    finding.cause = gap.version.starts_with("GLIBC_")
                        ? "it was built on a system with a newer glibc than this one"
                        : "the library that is loaded is older than the one it was built with";
    add_fixes(tree, gap, finding.fixes);
    findings.push_back(std::move(finding));
  }
}

// Functions of CUDA libraries that are called and that nothing offers, though their library is
// there.
void find_lacking_symbols(const LoadTree& tree, Findings& findings) {
  std::set<std::string_view> offered;
  for (const LoadNode& node : tree.nodes)
    if (node.symbols) offered.insert(node.symbols->exports.begin(), node.symbols->exports.end());
  std::map<std::pair<size_t, size_t>, std::vector<std::string>> lacking; // provider, caller
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const LoadNode& node = tree.nodes[i];
    if (!node.symbols) continue;
    for (const std::string& symbol : node.symbols->imports) {
      if (offered.count(symbol)) continue;
      std::string_view library = library_of_symbol(symbol);
      size_t provider = library.empty() ? SIZE_MAX : node_of_library(tree, library);
      if (provider != SIZE_MAX && provider != i) lacking[{provider, i}].push_back(symbol);
    }
  }
  for (const auto& [pair, symbols] : lacking) {
    const LoadNode &provider = tree.nodes[pair.first], &caller = tree.nodes[pair.second];
    Finding finding;
    finding.id = "ldd-symbol";
    finding.state = State::fault;
    finding.title = fmt::format("{} is too old for {}, which calls {}", provider.path,
                                name_of(caller.path), symbols.front());
    std::string names;
    for (size_t i = 0; i < symbols.size() && i < kSymbolsShown; ++i)
      names += (i ? ", " : "") + symbols[i];
    if (symbols.size() > kSymbolsShown)
      names += fmt::format(" and {} more", symbols.size() - kSymbolsShown);
    finding.evidence.push_back("not in it: " + names);
    finding.evidence.push_back("called by " + caller.path);
    finding.evidence.push_back("found by " + way_to(tree, pair.first));
    finding.cause = fmt::format("another release of {} is loaded than {} was built with",
                                provider.soname, name_of(caller.path));
    add_ways_out(tree, pair.first, finding.fixes);
    if (finding.fixes.empty())
      finding.fixes.push_back(
          fmt::format("install the {} that fits {}", provider.soname, name_of(caller.path)));
    findings.push_back(std::move(finding));
  }
}

} // namespace gpuvet
