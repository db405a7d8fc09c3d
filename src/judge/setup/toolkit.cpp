// Which toolkit, from where, and with which compiler.
#include "base/text.hpp"
#include "judge/setup/parts.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet::setup {
namespace {

constexpr size_t kNamed = 3;           // toolkits that are named one by one
constexpr uint32_t kRunfileSince = 11; // older releases have runfiles of other names and places

std::string known_versions(const std::vector<Toolkit>& toolkits) {
  std::vector<std::string> names;
  for (const Toolkit& toolkit : toolkits)
    names.push_back(toolkit.version);
  return joined(names);
}

// "12.8" or one of its releases, "12.8.1".
Result<ChosenToolkit> named(const SetupWish& wish, const std::vector<Toolkit>& toolkits) {
  auto version = parse_version(wish.toolkit);
  if (!version || version->parts.size() < 2)
    return fail("a toolkit is named by two numbers, as 12.8; known: " + known_versions(toolkits),
                "--toolkit " + wish.toolkit);
  ChosenToolkit chosen;
  chosen.version = fmt::format("{}.{}", version->major(), version->minor());
  chosen.dashed = fmt::format("{}-{}", version->major(), version->minor());
  for (const Toolkit& toolkit : toolkits)
    if (toolkit.version == chosen.version) chosen.row = &toolkit;
  if (!chosen.row) {
    std::string why = chosen.version == "12.7" ? "there is no public toolkit 12.7, only a driver"
                                               : "there is no such toolkit";
    return fail(why + "; known: " + known_versions(toolkits), "--toolkit " + wish.toolkit);
  }
  for (const ToolkitRelease& release : chosen.row->releases)
    if (version->parts.size() == 2 || parse_version(release.version) == version)
      chosen.release = &release; // ascending: the newest
  if (version->parts.size() > 2 && !chosen.release)
    return fail("release " + wish.toolkit + " is not in the tables; leave the last number out",
                "--toolkit " + wish.toolkit);
  return chosen;
}

std::string range_of(const PackagedToolkits* packaged, const Facts& facts) {
  std::vector<std::string> all = toolkits_of(packaged, facts);
  if (all.empty()) return "no toolkit that is known";
  return all.size() > kNamed ? all.front() + " to " + all.back() : joined(all);
}

SetupRefusal not_packaged(const Situation& situation, const Place& place,
                          const ChosenToolkit& chosen) {
  const PackagedToolkits* packaged = place.packaged;
  SetupRefusal refusal;
  refusal.why = fmt::format("NVIDIA never packaged CUDA {} for {} ({}): the repository {} has {}",
                            chosen.version, place.row->title, place.machine, place.row->name,
                            range_of(packaged, situation.facts));
  if (!packaged || packaged->none)
    refusal.why = fmt::format("NVIDIA has no CUDA toolkit in packages for {} on {}",
                              place.row->title, place.machine);
  std::vector<std::string> all = toolkits_of(packaged, situation.facts);
  if (!all.empty())
    refusal.ways.push_back(fmt::format("--toolkit {}: the {} that {} has",
                                       all.front() == chosen.version ? all.back() : all.front(),
                                       all.size() > 1 ? "oldest" : "one", place.row->name));
  bool older = chosen.compiler_too_new;
  if (chosen.release && !chosen.release->runfile.empty())
    refusal.ways.push_back(
        fmt::format("--runfile: NVIDIA's installer for any distribution{}",
                    older ? fmt::format("; this release's g++ {} is newer than the {} that CUDA {} "
                                        "takes, so builds need an older one beside it",
                                        *place.home->gcc, chosen.row->max_gcc, chosen.version)
                          : ""));
  refusal.ways.push_back(fmt::format("build in a container that has it; the host then needs a "
                                     "driver and nvidia-container-toolkit, no toolkit"));
  return refusal;
}

bool too_new(const Place& place, const Toolkit& toolkit) {
  auto most = parse_version(toolkit.max_gcc);
  return place.home->gcc && most && *place.home->gcc > most->major();
}

} // namespace

Offered offered_by(const PackagedToolkits* packaged, const Version& toolkit) {
  if (!packaged) return Offered::no;
  if (packaged->none) return Offered::no;
  auto first = parse_version(packaged->first), seen = parse_version(packaged->seen);
  if (!first || !seen) return Offered::unsure;
  auto unsure = parse_version(packaged->unsure), last = parse_version(packaged->last);
  if (toolkit < *first) return unsure && *unsure <= toolkit ? Offered::unsure : Offered::no;
  if (toolkit <= *seen) return Offered::yes;
  return last && *last < toolkit ? Offered::no : Offered::unsure;
}

std::vector<std::string> toolkits_of(const PackagedToolkits* packaged, const Facts& facts) {
  std::vector<std::string> names;
  auto toolkits = facts.toolkits();
  if (!toolkits) return names;
  for (const Toolkit& toolkit : **toolkits) {
    auto version = parse_version(toolkit.version);
    if (version && packaged && !packaged->first.empty() &&
        offered_by(packaged, *version) == Offered::yes)
      names.push_back(toolkit.version);
  }
  return names;
}

Result<Decided<ChosenToolkit>> choose_toolkit(const Situation& situation, const Place& place) {
  auto toolkits = situation.facts.toolkits();
  if (!toolkits) return tl::unexpected<Error>(toolkits.error());
  auto found = named(situation.wish, **toolkits);
  if (!found) return tl::unexpected<Error>(found.error());
  ChosenToolkit chosen = std::move(*found);
  chosen.compiler_too_new = too_new(place, *chosen.row);
  Version version = *parse_version(chosen.version);
  chosen.offered = offered_by(place.packaged, version);
  chosen.from_runfile = situation.wish.runfile || situation.wish.offline;
  chosen.from_packages = !chosen.from_runfile;
  if (chosen.from_runfile) {
    if (version.major() < kRunfileSince || !chosen.release || chosen.release->runfile.empty())
      return Decided<ChosenToolkit>{
          std::nullopt,
          {fmt::format("the name of the runfile of CUDA {} is not established", chosen.version),
           {"https://developer.nvidia.com/cuda-toolkit-archive lists it"}}};
    return Decided<ChosenToolkit>{std::move(chosen), {}};
  }
  if (chosen.offered == Offered::no)
    return Decided<ChosenToolkit>{std::nullopt, not_packaged(situation, place, chosen)};
  chosen.offered_why = fmt::format("CUDA {} was seen in this repository.", chosen.version);
  if (chosen.offered == Offered::unsure)
    chosen.offered_why = fmt::format(
        "Not established: {} is known to have {}. So it is asked before anything is changed.",
        place.row->name, range_of(place.packaged, situation.facts));
  return Decided<ChosenToolkit>{std::move(chosen), {}};
}

} // namespace gpuvet::setup
