// Which distribution, which repository, which processor.
#include "base/shell.hpp"
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/setup/parts.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet::setup {
namespace {

// "Ubuntu 24.04", "ubuntu-24.04", "ubuntu2404" are one name.
std::string plain(std::string_view text) {
  std::string name;
  for (char c : lower_ascii(text))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) name += c;
  return name;
}

bool is_release(const SetupDistribution& row, std::string_view version) {
  return version == row.version || version.starts_with(row.version + ".");
}

const SetupDistribution* by_name(const SetupTables& tables, std::string_view name) {
  std::string wanted = plain(name);
  for (const SetupDistribution& row : tables.distributions) {
    if (plain(row.name) == wanted || plain(row.title) == wanted) return &row;
    for (const std::string& id : row.ids) {
      std::string head = plain(id);
      if (!wanted.starts_with(head)) continue;
      // "rocky9", "rhel9.4": a digit more after the release, but not "debian123".
      size_t at = name.find_first_of("0123456789");
      if (at != std::string_view::npos && plain(name.substr(0, at)) == head &&
          (is_release(row, name.substr(at)) || plain(name.substr(at)) == plain(row.version)))
        return &row;
    }
  }
  return nullptr;
}

const SetupDistribution* by_release(const SetupTables& tables, const std::string& id,
                                    std::string_view version) {
  for (const SetupDistribution& row : tables.distributions)
    if (std::find(row.ids.begin(), row.ids.end(), id) != row.ids.end() && is_release(row, version))
      return &row;
  return nullptr;
}

std::string known_names(const SetupTables& tables) {
  std::vector<std::string> names;
  for (const SetupDistribution& row : tables.distributions)
    names.push_back(row.name);
  return joined(names);
}

std::string pattern_of(const SetupDistribution& row) {
  std::vector<std::string> parts;
  for (const std::string& id : row.ids) {
    parts.push_back(shell_word(id + ":" + row.version));
    if (row.version.find('.') == std::string::npos)
      parts.push_back(shell_word(id + ":" + row.version + ".") + "*");
  }
  return joined(parts, " | ");
}

Decided<Place> refused(std::string why, std::vector<std::string> ways) {
  return {std::nullopt, {std::move(why), std::move(ways)}};
}

// Machines of this kind get CUDA in another way.
std::optional<SetupRefusal> elsewhere(const Situation& situation) {
  if (!situation.machine) return std::nullopt;
  if (situation.machine->surroundings.jetson)
    return SetupRefusal{"this is a Jetson: its driver and CUDA come with JetPack, not from these "
                        "repositories",
                        {"sudo apt install nvidia-jetpack"}};
  if (situation.machine->surroundings.wsl1)
    return SetupRefusal{"this is the first WSL, which has no GPU",
                        {"in PowerShell: wsl --set-version DISTRIBUTION 2"}};
  return std::nullopt;
}

// The row whose packages are on the machine, as far as it can be told.
Result<Decided<const SetupDistribution*>> home_of(const Situation& situation) {
  const SetupTables& tables = situation.tables;
  if (!situation.wish.distribution.empty()) {
    const SetupDistribution* row = by_name(tables, situation.wish.distribution);
    if (!row)
      return fail("NVIDIA has no repository of this name; known: " + known_names(tables),
                  "--distro " + situation.wish.distribution);
    return Decided<const SetupDistribution*>{row, {}};
  }
  const Machine* machine = situation.machine;
  if (!machine) return fail("name a distribution", "--distro");
  const Distribution& here = machine->distribution;
  if (!here.id)
    return Decided<const SetupDistribution*>{
        std::nullopt,
        {"the distribution is not known: " + here.id.why_unknown,
         {"name it: --distro NAME, one of " + known_names(tables)}}};
  if (const SetupDistribution* row = by_release(tables, *here.id, here.version))
    return Decided<const SetupDistribution*>{row, {}};
  std::string name = here.name.empty() ? *here.id + " " + here.version : here.name;
  return Decided<const SetupDistribution*>{
      std::nullopt,
      {"NVIDIA has no repository for " + name,
       {"name the release that it is built on, where there is one: --distro NAME, one of " +
            known_names(tables),
        "use a container of a release that has one; the host then needs the driver and "
        "nvidia-container-toolkit only"}}};
}

} // namespace

Result<Decided<Place>> find_place(const Situation& situation) {
  const SetupWish& wish = situation.wish;
  const Machine* machine = situation.machine;
  if (auto other = elsewhere(situation)) return Decided<Place>{std::nullopt, *other};
  auto home = home_of(situation);
  if (!home) return tl::unexpected<Error>(home.error());
  if (!home->value) return Decided<Place>{std::nullopt, home->refusal};
  Place place;
  place.home = place.row = *home->value;
  place.wsl = wish.wsl || place.row->name == "wsl-ubuntu" || (machine && machine->surroundings.wsl);
  place.container = !place.wsl && (wish.container || (machine && in_container(*machine)));
  if (place.wsl) {
    const SetupDistribution* wsl = by_name(situation.tables, "wsl-ubuntu");
    bool packages = !wish.runfile && !wish.offline;
    if (place.home->packages != "apt" && packages)
      return refused("for WSL NVIDIA has packages of apt only, and " + place.home->title +
                         " has none",
                     {"--runfile: the toolkit without packages", "use Ubuntu in WSL"});
    if (wsl && place.home->packages == "apt") place.row = wsl;
  }
  place.machine = wish.arch;
  if (place.machine.empty()) place.machine = machine ? machine->system.architecture : "";
  if (place.machine.empty()) place.machine = "x86_64";
  if (place.machine == "arm64" || place.machine == "sbsa") place.machine = "aarch64";
  if (place.machine != "x86_64" && place.machine != "aarch64")
    return refused("NVIDIA has CUDA for x86_64 and for 64-bit Arm, and this is " + place.machine,
                   {"CUDA 12.4 was the last for ppc64le"});
  place.arch = place.machine == "x86_64" ? "x86_64" : "sbsa";
  for (const PackagedToolkits& row : situation.tables.packaged)
    if (row.repository == place.row->name && row.arch == place.arch) place.packaged = &row;
  place.pattern = pattern_of(*place.home);
  if (machine && machine->distribution.id) {
    const Distribution& here = machine->distribution;
    if (by_release(situation.tables, *here.id, here.version) != place.home || place.pattern.empty())
      place.pattern = shell_word(*here.id + ":" + here.version);
  }
  if (place.pattern.empty()) place.pattern = "ubuntu:*"; // WSL without a machine
  return Decided<Place>{std::move(place), {}};
}

} // namespace gpuvet::setup
