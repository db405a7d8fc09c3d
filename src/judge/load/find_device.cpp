#include "judge/load/find_device.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

Error ambiguous(const std::string& query, const std::vector<const Gpu*>& candidates) {
  std::vector<std::string> names;
  for (const Gpu* gpu : candidates)
    names.push_back(fmt::format("{} ({})", gpu->name, cc_name(gpu->sm)));
  return {fmt::format("\"{}\" names cards of different compute capability: {}; give the full name, "
                      "the capability or the PCI id",
                      query, joined(names)),
          {}};
}

Result<LoadDevice> of_capability(const std::string& query, Target target, const LoadRules& rules) {
  if (target.suffix)
    return fail(fmt::format("{} is a code target, not a GPU: give {}", query, cc_name(target.sm)));
  bool known = std::any_of(rules.sass_ranges.begin(), rules.sass_ranges.end(),
                           [&](const SassRange& range) { return range.target.sm == target.sm; });
  if (!known)
    return fail(fmt::format("no GPU of compute capability {} is known", cc_name(target.sm)));
  bool tegra = std::find(rules.tegra.begin(), rules.tegra.end(), target.sm) != rules.tegra.end();
  return LoadDevice{cc_name(target.sm), target.sm, tegra};
}

} // namespace

Result<LoadDevice> find_device(const std::string& query, const Facts& facts) {
  auto rules = facts.load_rules();
  if (!rules) return tl::unexpected<Error>(rules.error());
  if (auto target = parse_target(query)) return of_capability(query, *target, **rules);
  auto gpus = facts.gpus();
  if (!gpus) return tl::unexpected<Error>(gpus.error());
  GpuMatch match = find_gpu(**gpus, query);
  if (match.gpu) return LoadDevice{query, match.gpu->sm, match.gpu->tegra};
  if (!match.candidates.empty()) return tl::unexpected<Error>(ambiguous(query, match.candidates));
  std::string near = match.suggestions.empty() ? "" : "; close: " + joined(match.suggestions);
  return fail(fmt::format("no GPU is called \"{}\"{}", query, near));
}

} // namespace gpuvet
