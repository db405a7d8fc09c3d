#include "judge/pick/pick.hpp"

#include "judge/pick/newer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace gpuvet {
namespace {

bool cuda_asked(const FrameworkBuild& build, const std::optional<Version>& wanted) {
  if (!wanted) return true;
  BuildCuda cuda = cuda_of(build);
  if (!cuda.version || cuda.version->major() != wanted->major()) return false;
  return wanted->parts.size() < 2 || (cuda.exact && cuda.version->minor() == wanted->minor());
}

Version minor_of(const Version& version) {
  return Version{{version.major(), version.minor()}};
}

bool fits_row(const InstallCommand& row, const FrameworkBuild& build, const Version& release) {
  Version minor = minor_of(release);
  return row.framework == build.framework && build.platform.starts_with(row.platform) &&
         build.variant.starts_with(row.variant) && build.cuda.starts_with(row.cuda) &&
         (!row.first || minor_of(*row.first) <= minor) &&
         (!row.last || minor <= minor_of(*row.last));
}

// Fills {placeholders}; false: one has no value.
bool fill(std::string& text, const std::map<std::string, std::string>& values) {
  for (size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at)) {
    size_t end = text.find('}', at);
    if (end == std::string::npos) return false;
    auto value = values.find(text.substr(at + 1, end - at - 1));
    if (value == values.end() || value->second.empty()) return false;
    text.replace(at, end - at + 1, value->second);
    at += value->second.size();
  }
  return true;
}

} // namespace

std::vector<BuildFit> judge_builds(const std::vector<FrameworkBuild>& builds,
                                   const std::string& framework, const PickQuery& query,
                                   const LoadRules& rules) {
  std::vector<BuildFit> fits;
  for (const FrameworkBuild& build : builds) {
    bool platform = std::find(query.platforms.begin(), query.platforms.end(), build.platform) !=
                    query.platforms.end();
    if (build.framework == framework && platform && cuda_asked(build, query.cuda))
      fits.push_back(judge_build(build, query, rules));
  }
  std::stable_sort(fits.begin(), fits.end(), [](const BuildFit& a, const BuildFit& b) {
    if (a.version != b.version) return a.version > b.version;
    auto rank = [](const BuildFit& fit) {
      return std::tuple(fit.fit == Fit::fits, !fit.jit, !fit.minor_compatibility, fit.cuda);
    };
    return rank(a) > rank(b);
  });
  return fits;
}

int newest_fitting(const std::vector<BuildFit>& fits, std::string_view wanted) {
  auto first = [&](auto takes) {
    auto found = std::find_if(fits.begin(), fits.end(), [&](const BuildFit& fit) {
      return fit.fit == Fit::fits && takes(fit);
    });
    return found == fits.end() ? -1 : static_cast<int>(found - fits.begin());
  };
  int same = first([&](const BuildFit& fit) { return fit.build->version == wanted; });
  return same >= 0 ? same : first([](const BuildFit&) { return true; });
}

InstallLine install_line(const FrameworkBuild& build, const PickTables& tables) {
  std::string release = newest_release(build.version);
  auto version = parse_version(release);
  if (!version) return {};
  std::map<std::string, std::string> values = {{"release", release},
                                               {"minor", to_string(minor_of(*version))},
                                               {"variant", build.variant},
                                               {"cuda", {}},
                                               {"major", {}}};
  if (version->parts.size() < 2) values["minor"] = release;
  if (BuildCuda cuda = cuda_of(build); cuda.version) {
    if (cuda.exact) values["cuda"] = to_string(minor_of(*cuda.version));
    values["major"] = std::to_string(cuda.version->major());
  }
  for (const NewestPatch& patch : tables.newest)
    if (patch.framework == build.framework && patch.minor == values["minor"])
      values["newest"] = patch.release;
  for (const InstallCommand& row : tables.commands) {
    if (!fits_row(row, build, *version)) continue;
    InstallLine line{row.command, row.note, row.source};
    if (!fill(line.command, values)) return {};
    return line;
  }
  return {};
}

Result<Pick> pick_framework(const Facts& facts, const FrameworkName& framework,
                            const PickQuery& query) {
  auto builds = facts.frameworks();
  if (!builds) return tl::unexpected<Error>(builds.error());
  auto rules = facts.load_rules();
  if (!rules) return tl::unexpected<Error>(rules.error());
  auto tables = facts.pick();
  if (!tables) return tl::unexpected<Error>(tables.error());
  Pick pick{framework.framework, framework.title, {}, -1, {}, {}, {}, false};
  PickQuery asked = query;
  asked.tables = *tables;
  pick.builds = judge_builds(**builds, framework.framework, asked, **rules);
  for (BuildFit& fit : pick.builds)
    if (fit.fit != Fit::no) add_needed_driver(fit, asked, **rules);
  pick.best = newest_fitting(pick.builds);
  if (pick.best >= 0)
    pick.install = install_line(*pick.builds[static_cast<size_t>(pick.best)].build, **tables);
  size_t newer = pick.best < 0 ? pick.builds.size() : static_cast<size_t>(pick.best);
  for (size_t i = 0; i < newer; ++i)
    pick.any_unknown = pick.any_unknown || pick.builds[i].fit == Fit::unknown;
  pick.newer = why_not_newer(pick, query, **rules);
  for (const LoadDevice& device : query.devices) {
    if (query.devices.size() < 2) break;
    asked.devices = {device};
    std::vector<BuildFit> own = judge_builds(**builds, framework.framework, asked, **rules);
    int best = newest_fitting(own);
    if (best < 0) continue;
    const BuildFit& fit = own[static_cast<size_t>(best)];
    if (pick.best >= 0 && fit.version <= pick.builds[static_cast<size_t>(pick.best)].version)
      continue;
    pick.alone.push_back(
        fmt::format("{} alone gets {} {} ({})", device.name, pick.title, fit.release,
                    fit.build->variant.empty() ? "CUDA " + fit.build->cuda : fit.build->variant));
  }
  return pick;
}

} // namespace gpuvet
