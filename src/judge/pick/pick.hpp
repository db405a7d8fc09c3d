// Which release of a framework to install: all builds of it, judged and ordered newest first, and
// the newest that fits.
#pragma once

#include "facts/pick/pick.hpp"
#include "judge/pick/build_fit.hpp"

namespace gpuvet {

struct InstallLine {
  std::string command; // empty: not established
  std::string note, source;
};

// Why builds that are newer than the pick were not taken: one line for those with the same reason.
struct NewerBuilds {
  std::string text;
  Obstacle obstacle = Obstacle::none;
};

struct Pick {
  std::string framework, title;
  std::vector<BuildFit> builds; // newest first; of one release the better choice first
  int best = -1;                // index of the newest that fits; -1: none
  InstallLine install;          // of the best
  std::vector<NewerBuilds> newer;
  // Of several GPUs: what each would get by itself, where that is newer.
  std::vector<std::string> alone;
  bool any_unknown = false; // some newer than the best, or all, could not be judged
};

// Builds of `framework` for the platforms of the query. Of one release, those come first that need
// no compilation by the driver, then those whose CUDA the driver serves in full, then newer CUDA.
std::vector<BuildFit> judge_builds(const std::vector<FrameworkBuild>& builds,
                                   const std::string& framework, const PickQuery& query,
                                   const LoadRules& rules);

// The first that fits; of release `wanted` ("2.8") where there is one. -1: none.
int newest_fitting(const std::vector<BuildFit>& fits, std::string_view wanted = {});

InstallLine install_line(const FrameworkBuild& build, const PickTables& tables);

Result<Pick> pick_framework(const Facts& facts, const FrameworkName& framework,
                            const PickQuery& query);

} // namespace gpuvet
