#include "judge/pick/newer.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

// A flavour of the builds: "cu128", or "CUDA 12.8" where variants have no names.
std::string flavour(const FrameworkBuild& build) {
  if (!build.variant.empty()) return build.variant;
  return build.cuda.empty() ? std::string("builds") : "CUDA " + build.cuda;
}

// "cu130", "cu132" and later: all with one reason, and from which release on.
struct Group {
  Obstacle obstacle = Obstacle::none;
  std::string why;
  std::vector<std::string> flavours;
  std::string first, last;
};

std::string gpus_text(const PickQuery& query) {
  std::vector<std::string> names;
  for (const LoadDevice& device : query.devices) {
    std::string cc = cc_name(device.sm);
    names.push_back(device.name == cc ? cc : fmt::format("{} ({})", device.name, cc));
  }
  return joined(names, " and ");
}

std::string releases(const Group& group) {
  return group.first == group.last ? group.last : fmt::format("{} to {}", group.first, group.last);
}

std::string sentence(const Group& group, const std::string& title, const PickQuery& query) {
  std::string who = fmt::format("{} {} ({})", title, releases(group), joined(group.flavours, ", "));
  switch (group.obstacle) {
  case Obstacle::no_code:
    return fmt::format("{}: no code for {}: {}", who, gpus_text(query), group.why);
  case Obstacle::ptx_unknown:
  case Obstacle::code_unknown:
  case Obstacle::planned:
  case Obstacle::cuda_unknown:
  case Obstacle::python_unknown:
    return fmt::format("{}: not known whether it fits: {}", who, group.why);
  default:
    return fmt::format("{}: {}", who, group.why);
  }
}

void add(std::vector<Group>& groups, const BuildFit& fit) {
  std::string name = flavour(*fit.build);
  for (Group& group : groups) {
    if (group.obstacle != fit.obstacle || group.why != fit.why) continue;
    group.first = fit.release; // they come newest first
    if (std::find(group.flavours.begin(), group.flavours.end(), name) == group.flavours.end())
      group.flavours.push_back(name);
    return;
  }
  groups.push_back({fit.obstacle, fit.why, {name}, fit.release, fit.release});
}

// The chosen flavour ends before the newest release.
std::string ended(const Pick& pick) {
  const BuildFit& best = pick.builds[static_cast<size_t>(pick.best)];
  const BuildFit& newest = pick.builds.front();
  if (best.build->variant.empty() || newest.version == best.version) return {};
  for (const BuildFit& fit : pick.builds)
    if (fit.version > best.version && fit.build->variant == best.build->variant) return {};
  return fmt::format("{} {} is the last known release with {} builds", pick.title, best.release,
                     best.build->variant);
}

} // namespace

std::vector<NewerBuilds> why_not_newer(const Pick& pick, const PickQuery& query,
                                       const LoadRules& rules) {
  std::vector<Group> groups;
  for (size_t i = 0; i < pick.builds.size(); ++i) {
    bool newer = pick.best < 0 ||
                 pick.builds[i].version > pick.builds[static_cast<size_t>(pick.best)].version;
    if (newer && pick.builds[i].fit != Fit::fits) add(groups, pick.builds[i]);
  }
  std::vector<NewerBuilds> lines;
  for (const Group& group : groups)
    lines.push_back({sentence(group, pick.title, query), group.obstacle});
  if (lines.empty()) return lines;
  if (pick.best >= 0)
    if (std::string text = ended(pick); !text.empty()) lines.push_back({text, Obstacle::none});
  for (const LoadDevice& device : query.devices)
    for (const ArchitectureEnd& end : rules.ends)
      if (device.sm >= end.first_sm && device.sm <= end.last_sm)
        lines.push_back({fmt::format("driver branch {} is the last for {} ({})", end.last_branch,
                                     device.name, end.architecture),
                         Obstacle::none});
  return lines;
}

} // namespace gpuvet
