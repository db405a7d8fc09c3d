#include "model/version_gaps.hpp"

#include "base/version.hpp"

#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace gpuvet {
namespace {

// "GLIBCXX_" of "GLIBCXX_3.4.30"; all of it where no number follows.
std::string_view family_of(std::string_view version) {
  size_t number = version.find_first_of("0123456789");
  return version.substr(0, number);
}

Version number_of(std::string_view version) {
  return parse_version(version.substr(family_of(version).size())).value_or(Version{});
}

size_t provider_of(const LoadTree& tree, const LoadNode& node, const std::string& library) {
  for (const LoadEdge& edge : node.needs)
    if (edge.name == library && edge.node < tree.nodes.size()) return edge.node;
  for (size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].soname == library) return i;
  return SIZE_MAX;
}

std::string highest(const std::vector<std::string>& versions, std::string_view family) {
  std::string best;
  for (const std::string& version : versions)
    if (family_of(version) == family && (best.empty() || number_of(version) > number_of(best)))
      best = version;
  return best;
}

} // namespace

std::vector<VersionGap> version_gaps(const LoadTree& tree) {
  std::vector<std::set<std::string_view>> defined(tree.nodes.size());
  for (size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].elf)
      defined[i].insert(tree.nodes[i].elf->version_defs.begin(),
                        tree.nodes[i].elf->version_defs.end());
  std::map<std::tuple<size_t, size_t, std::string_view>, VersionGap> gaps;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const LoadNode& node = tree.nodes[i];
    if (!node.elf) continue;
    for (const SymbolVersion& need : node.elf->version_needs) {
      size_t provider = provider_of(tree, node, need.file);
      // A library without versions serves them all; the loader only warns.
      if (provider == SIZE_MAX || defined[provider].empty() || defined[provider].count(need.name))
        continue;
      VersionGap& gap = gaps[{i, provider, family_of(need.name)}];
      if (!gap.version.empty() && number_of(gap.version) >= number_of(need.name)) continue;
      const LoadNode& there = tree.nodes[provider];
      gap = {node.path, need.file, need.name, there.path,
             highest(there.elf->version_defs, family_of(need.name))};
    }
  }
  std::vector<VersionGap> list;
  for (auto& [key, gap] : gaps)
    list.push_back(std::move(gap));
  return list;
}

} // namespace gpuvet
