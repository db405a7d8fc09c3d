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

// Where a build's machine code lies, seen from a GPU that it does not serve.
enum class Side : uint8_t { above, below, around };

Side side_of(const FrameworkBuild& build, uint32_t sm) {
  auto is_above = [&](Target target) { return target.sm > sm; };
  auto is_below = [&](Target target) { return target.sm < sm; };
  if (std::all_of(build.sass.begin(), build.sass.end(), is_above)) return Side::above;
  return std::all_of(build.sass.begin(), build.sass.end(), is_below) && build.ptx.empty()
             ? Side::below
             : Side::around;
}

// The GPUs on which nothing of a build loads.
std::vector<LoadDevice> without_code(const BuildFit& fit, const PickQuery& query) {
  std::vector<LoadDevice> devices;
  for (size_t i = 0; i < fit.loads.size(); ++i)
    if (!loads(fit.loads[i])) devices.push_back(query.devices[i]);
  return devices;
}

// "cu130", "cu132" and later: all with one reason, and from which release on.
struct Group {
  Obstacle obstacle = Obstacle::none;
  Side side = Side::around;
  std::string gpus; // that it has no code for
  Target nearest;   // of the machine code above or below the GPU
  std::string why;
  std::vector<std::string> flavours;
  std::string first, last;
};

std::string gpus_text(const std::vector<LoadDevice>& devices) {
  std::vector<std::string> names;
  for (const LoadDevice& device : devices) {
    std::string cc = cc_name(device.sm);
    names.push_back(device.name == cc ? cc : fmt::format("{} ({})", device.name, cc));
  }
  return joined(names, " and ");
}

std::string releases(const Group& group) {
  return group.first == group.last ? group.last : fmt::format("{} to {}", group.first, group.last);
}

std::string sentence(const Group& group, const std::string& title) {
  constexpr size_t most = 6; // flavours named
  std::string flavours = "all builds";
  if (group.flavours.size() <= most) flavours = joined(group.flavours, ", ");
  std::string who = fmt::format("{} {} ({})", title, releases(group), flavours);
  switch (group.obstacle) {
  case Obstacle::no_code:
    if (group.side == Side::above)
      return fmt::format("{}: no code for {}: machine code begins at {}", who, group.gpus,
                         cc_name(group.nearest.sm));
    if (group.side == Side::below)
      return fmt::format("{}: no code for {}: machine code ends at {}, and there is no PTX", who,
                         group.gpus, cc_name(group.nearest.sm));
    return fmt::format("{}: no code for {}: {}", who, group.gpus, group.why);
  case Obstacle::ptx_unknown:
  case Obstacle::code_unknown:
  case Obstacle::planned:
  case Obstacle::cuda_unknown:
  case Obstacle::python_unknown:
  case Obstacle::older_than_gpu:
    return fmt::format("{}: not known whether it fits: {}", who, group.why);
  default:
    return fmt::format("{}: {}", who, group.why);
  }
}

bool same_reason(const Group& group, const BuildFit& fit, Side side, const std::string& gpus) {
  if (group.obstacle != fit.obstacle || group.side != side || group.gpus != gpus) return false;
  return side != Side::around || group.why == fit.why;
}

void add(std::vector<Group>& groups, const BuildFit& fit, const PickQuery& query) {
  std::string name = flavour(*fit.build), gpus;
  const std::vector<Target>& sass = fit.build->sass;
  Side side = Side::around;
  if (fit.obstacle == Obstacle::no_code) {
    std::vector<LoadDevice> devices = without_code(fit, query);
    gpus = gpus_text(devices);
    if (devices.size() == 1 && !sass.empty()) side = side_of(*fit.build, devices[0].sm);
  }
  Target nearest;
  if (side == Side::above) nearest = *std::min_element(sass.begin(), sass.end());
  if (side == Side::below) nearest = *std::max_element(sass.begin(), sass.end());
  for (Group& group : groups) {
    if (!same_reason(group, fit, side, gpus)) continue;
    group.first = fit.release; // they come newest first
    if (std::find(group.flavours.begin(), group.flavours.end(), name) == group.flavours.end())
      group.flavours.push_back(name);
    if (side == Side::above) group.nearest = std::min(group.nearest, nearest);
    if (side == Side::below) group.nearest = std::max(group.nearest, nearest);
    return;
  }
  groups.push_back({fit.obstacle, side, gpus, nearest, fit.why, {name}, fit.release, fit.release});
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
    if (newer && pick.builds[i].fit != Fit::fits) add(groups, pick.builds[i], query);
  }
  std::vector<NewerBuilds> lines;
  for (const Group& group : groups)
    lines.push_back({sentence(group, pick.title), group.obstacle});
  if (lines.empty()) return lines;
  if (pick.best >= 0)
    if (std::string text = ended(pick); !text.empty()) lines.push_back({text, Obstacle::none});
  bool told = std::any_of(groups.begin(), groups.end(),
                          [](const Group& group) { return group.obstacle == Obstacle::drops_gpu; });
  for (const LoadDevice& device : query.devices)
    for (const ArchitectureEnd& end : rules.ends)
      if (!told && device.sm >= end.first_sm && device.sm <= end.last_sm)
        lines.push_back({fmt::format("driver branch {} is the last for {} ({})", end.last_branch,
                                     device.name, end.architecture),
                         Obstacle::none});
  return lines;
}

} // namespace gpuvet
