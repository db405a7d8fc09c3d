#include "judge/arch/sizes.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

uint32_t distance(Target a, Target b) {
  return a.sm > b.sm ? a.sm - b.sm : b.sm - a.sm;
}

} // namespace

PlannedSizes planned_sizes(const CodeSet& codes, const ScanResult& earlier) {
  PlannedSizes sizes;
  std::vector<TargetSize> known = sizes_by_target(earlier);
  for (const TargetSize& size : known)
    sizes.now += size.bytes;
  for (const Code& code : codes) {
    PlannedSize made{code, std::nullopt, {}};
    std::string wanted = code.ptx ? compute_name(code.target) : sm_name(code.target);
    std::string_view kind = code.ptx ? "compute_" : "sm_";
    std::optional<Target> nearest;
    for (const TargetSize& size : known) {
      auto target = size.name.starts_with(kind) ? parse_target(size.name) : std::nullopt;
      if (!target) continue;
      if (nearest && distance(*nearest, code.target) <= distance(*target, code.target) &&
          size.name != wanted)
        continue;
      nearest = target;
      made.bytes = size.bytes;
      made.like = size.name == wanted ? "" : size.name;
      if (size.name == wanted) break;
    }
    if (made.bytes)
      sizes.total += *made.bytes;
    else
      sizes.whole = false;
    sizes.entries.push_back(std::move(made));
  }
  return sizes;
}

} // namespace gpuvet
