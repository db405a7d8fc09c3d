// Which driver: the branch that serves the GPUs and starts what the toolkit builds, and the kernel
// module that drives them.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/fabric/parts.hpp"
#include "judge/load/driver_needs.hpp"
#include "judge/setup/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet::setup {
namespace {

using Choice = Decided<DriverChoice>;

Choice refused(std::string why, std::vector<std::string> ways) {
  return {std::nullopt, {std::move(why), std::move(ways)}};
}

// The GPUs that the driver is for: the named one, else those on the bus.
Result<std::vector<const Gpu*>> gpus_of(const Situation& situation) {
  std::vector<const Gpu*> found;
  auto gpus = situation.facts.gpus();
  if (!gpus) return tl::unexpected<Error>(gpus.error());
  const std::string& name = situation.wish.gpu;
  if (!name.empty()) {
    GpuMatch match = find_gpu(**gpus, name);
    if (match.gpu) return std::vector<const Gpu*>{match.gpu};
    std::vector<std::string> names = match.suggestions;
    for (const Gpu* candidate : match.candidates)
      names.push_back(fmt::format("{} ({})", candidate->name, cc_name(candidate->sm)));
    return fail(
        (match.candidates.empty() ? "no such GPU in the tables" : "this name is ambiguous") +
            (names.empty() ? std::string() : "; did you mean " + joined(names)),
        "--gpu " + name);
  }
  if (!situation.machine) return found;
  for (const PciFunction* function : pci_gpus(*situation.machine)) {
    if (is_given_away(*situation.machine, *function)) continue;
    const Gpu* gpu = gpu_by_id(situation.facts, function->id);
    if (gpu && std::find(found.begin(), found.end(), gpu) == found.end()) found.push_back(gpu);
  }
  return found;
}

std::optional<uint32_t> last_branch(const Facts& facts, const Gpu& gpu) {
  auto rules = facts.load_rules();
  return rules ? last_driver_branch(gpu, **rules) : gpu.last_driver_branch;
}

const ModuleFlavour* flavour_of(const SetupTables& tables, const Gpu& gpu,
                                const std::string& arch) {
  for (const ModuleFlavour& row : tables.flavours)
    if (row.first_sm <= gpu.sm && gpu.sm <= row.last_sm && (row.arch.empty() || row.arch == arch))
      return &row;
  return nullptr;
}

bool compiles_for(const Toolkit& toolkit, uint32_t sm) {
  return std::any_of(toolkit.sass_targets.begin(), toolkit.sass_targets.end(),
                     [&](const Target& target) {
                       return target.suffix == 0 && cc_major(target.sm) == cc_major(sm) &&
                              cc_minor(target.sm) <= cc_minor(sm);
                     });
}

bool is_older_than_all(const Toolkit& toolkit, uint32_t sm) {
  return std::all_of(toolkit.sass_targets.begin(), toolkit.sass_targets.end(),
                     [&](const Target& target) { return sm < target.sm; });
}

// The newest toolkit that compiles for the GPU and that no driver newer than `last` is needed for.
std::string newest_toolkit_for(const Facts& facts, const Gpu& gpu, std::optional<uint32_t> last) {
  std::string newest;
  auto toolkits = facts.toolkits();
  if (!toolkits) return newest;
  for (const Toolkit& toolkit : **toolkits) {
    const std::string& floor =
        toolkit.minor_driver_linux.empty() ? toolkit.min_driver_linux : toolkit.minor_driver_linux;
    auto needed = parse_version(floor);
    if (!needed || !compiles_for(toolkit, gpu.sm)) continue;
    if (last && needed->major() > *last) continue;
    newest = toolkit.version;
  }
  return newest;
}

// A toolkit whose compiler dropped every GPU here can build nothing for them.
std::optional<SetupRefusal> dropped(const Situation& situation, const Toolkit& toolkit,
                                    const std::vector<const Gpu*>& gpus, DriverChoice& choice) {
  std::vector<const Gpu*> gone;
  for (const Gpu* gpu : gpus) {
    if (is_older_than_all(toolkit, gpu->sm)) {
      gone.push_back(gpu);
    } else if (!toolkit.sass_targets.empty() && !compiles_for(toolkit, gpu->sm)) {
      choice.notes.push_back(fmt::format(
          "CUDA {} does not know {} (compute capability {}): what it builds runs there only as PTX "
          "that the driver compiles, if it is embedded.",
          toolkit.version, gpu->name, cc_name(gpu->sm)));
    }
  }
  if (gone.empty()) return std::nullopt;
  std::string way = newest_toolkit_for(situation.facts, *gone.front(), std::nullopt);
  std::string why = fmt::format("CUDA {} no longer compiles for {} (compute capability {})",
                                toolkit.version, gone.front()->name, cc_name(gone.front()->sm));
  if (gone.size() == gpus.size())
    return SetupRefusal{why, {fmt::format("--toolkit {}: the last that does", way)}};
  choice.notes.push_back(fmt::format("{}; {} is the last that does.", why, way));
  return std::nullopt;
}

// Checks that say that the installed driver cannot stay.
constexpr std::array<const char*, 6> kUnfit = {
    "gpu-dropped-by-branch", "gpu-needs-open-module",  "gpu-needs-proprietary-module",
    "gpu-newer-than-driver", "driver-installed-twice", "driver-not-installed"};

std::string installed_version(const Situation& situation) {
  if (!situation.machine) return {};
  for (const char* check : kUnfit)
    if (fires(situation, check)) return {};
  const Machine& machine = *situation.machine;
  if (machine.kernel.module_version) return *machine.kernel.module_version;
  if (machine.kernel.module_files)
    for (const ModuleFile& file : *machine.kernel.module_files)
      if (name_of(file.path).starts_with("nvidia.ko") && !file.version.empty()) return file.version;
  return {};
}

void tell_needs(const Toolkit& toolkit, std::optional<uint32_t> last, DriverChoice& choice) {
  choice.needed =
      toolkit.minor_driver_linux.empty() ? toolkit.min_driver_linux : toolkit.minor_driver_linux;
  if (choice.needed.empty()) {
    choice.notes.push_back(
        fmt::format("Which driver CUDA {} needs is not established.", toolkit.version));
    return;
  }
  auto full = parse_version(toolkit.min_driver_linux);
  if (toolkit.min_driver_linux.empty() || toolkit.min_driver_linux == choice.needed) {
    choice.notes.push_back(
        fmt::format("CUDA {} needs driver {} or newer.", toolkit.version, choice.needed));
    return;
  }
  choice.notes.push_back(fmt::format(
      "CUDA {} came with driver {}; its programs start with {} or newer, and PTX and newer "
      "functions want {}.",
      toolkit.version, toolkit.min_driver_linux, choice.needed, toolkit.min_driver_linux));
  if (last && full && full->major() > *last)
    choice.notes.push_back(fmt::format(
        "Driver {} is older than that: embed machine code for this GPU, not PTX alone.", *last));
}

// A driver is here that serves the GPUs and the toolkit.
bool leave_alone(const Situation& situation, DriverChoice& choice) {
  std::string version = installed_version(situation);
  auto here = parse_version(version), needed = parse_version(choice.needed);
  if (!here) return false;
  if (needed && *here < *needed) {
    choice.notes.push_back(fmt::format("Driver {} is installed and too old.", version));
    return false;
  }
  choice.sentence = fmt::format("{} is installed and serves {}: it is left alone", version,
                                needed ? "GPU and toolkit" : "the GPU");
  return true;
}

void fill_flavour(const Situation& situation, const Place& place,
                  const std::vector<const Gpu*>& gpus, DriverChoice& choice) {
  choice.open = true;
  for (const Gpu* gpu : gpus) {
    const ModuleFlavour* row = flavour_of(situation.tables, *gpu, place.arch);
    if (!row) continue;
    bool decides = row->module != "either";
    if (row->module == "proprietary") choice.open = false;
    if (decides || choice.flavour_why.empty())
      choice.flavour_why = fmt::format("{} ({}): {}.", gpu->name, gpu->architecture, row->text);
  }
}

void fill_branch(const Situation& situation, const Gpu& oldest, uint32_t last,
                 DriverChoice& choice) {
  choice.pinned = last;
  choice.branch_why =
      fmt::format("{} is the last branch for {} ({}).", last, oldest.name, oldest.architecture);
  if (auto rules = situation.facts.load_rules(); rules)
    for (const DriverBranch& branch : (*rules)->branches)
      if (branch.branch > last && !choice.next_branch) choice.next_branch = branch.branch;
}

// No driver goes here, and this is why; empty: one may.
std::string not_here(const Situation& situation, const Place& place) {
  if (place.wsl) return "the driver is that of Windows; no Linux driver goes into WSL";
  if (place.container) return "the driver is the host's; none goes into a container";
  if (situation.wish.no_driver) return "none is installed (--no-driver)";
  if (fires(situation, "vgpu-needs-grid-driver") || fires(situation, "vgpu-guest-driver"))
    return "none is installed: a vGPU takes the guest driver that goes with its host's, from "
           "whoever "
           "runs the host";
  if (situation.machine && !situation.machine->container_host.driver_root.empty())
    return "none is installed: the GPU operator brings it, in " +
           situation.machine->container_host.driver_root;
  if (situation.wish.offline)
    return "none is installed: without a network only the toolkit of the runfile is";
  return {};
}

// The GPUs together: what the oldest and the newest of them ask for.
struct Fleet {
  std::vector<const Gpu*> gpus;
  const Gpu *oldest = nullptr, *open_only = nullptr, *closed_only = nullptr, *module = nullptr;
  std::optional<uint32_t> last; // branch for the oldest
};

Fleet fleet_of(const Situation& situation, const Place& place, std::vector<const Gpu*> gpus) {
  Fleet fleet;
  fleet.gpus = std::move(gpus);
  for (const Gpu* gpu : fleet.gpus) {
    if (gpu->tegra) fleet.module = gpu;
    std::optional<uint32_t> mine = last_branch(situation.facts, *gpu);
    if (mine && (!fleet.last || *mine < *fleet.last)) {
      fleet.last = mine;
      fleet.oldest = gpu;
    }
    const ModuleFlavour* row = flavour_of(situation.tables, *gpu, place.arch);
    if (row && row->module == "open") fleet.open_only = gpu;
    if (row && row->module == "proprietary") fleet.closed_only = gpu;
  }
  return fleet;
}

// Does the toolkit go with the GPUs, and is there a driver for both?
std::optional<SetupRefusal> fits_toolkit(const Situation& situation, const Fleet& fleet,
                                         const ChosenToolkit& toolkit, DriverChoice& choice) {
  if (auto refusal = dropped(situation, *toolkit.row, fleet.gpus, choice)) return refusal;
  tell_needs(*toolkit.row, fleet.last, choice);
  auto needed = parse_version(choice.needed);
  if (!fleet.last || !needed || needed->major() <= *fleet.last) return std::nullopt;
  return SetupRefusal{
      fmt::format("no driver serves both: CUDA {} needs {} or newer, and {} is the last branch for "
                  "{}",
                  toolkit.version, choice.needed, *fleet.last, fleet.oldest->name),
      {fmt::format("--toolkit {}: the newest for this GPU",
                   newest_toolkit_for(situation.facts, *fleet.oldest, fleet.last))}};
}

std::optional<SetupRefusal> fits_repository(const Place& place, const Gpu& oldest, uint32_t last) {
  if (!place.packaged || !place.packaged->first_driver || *place.packaged->first_driver <= last)
    return std::nullopt;
  return SetupRefusal{
      fmt::format("NVIDIA's repository {} has no driver older than {}, and {} is the last branch "
                  "for {}",
                  place.row->name, *place.packaged->first_driver, last, oldest.name),
      {fmt::format(
           "install driver {} from https://www.nvidia.com/drivers or the distribution's own "
           "packages, then: --no-driver",
           last),
       "use a release of the distribution that NVIDIA packaged that branch for"}};
}

// No driver although one may go here: none is asked for, or somebody else brings it.
Choice without_driver(const Situation& situation, const Place& place, DriverChoice choice) {
  if (!situation.wish.driver_only) return {std::move(choice), {}};
  return refused("there is nothing to install: " + choice.sentence,
                 {place.wsl         ? "NVIDIA's driver for Windows: https://www.nvidia.com/drivers"
                  : place.container ? "on the host: gpuvet setup --driver-only"
                  : situation.wish.gpu.empty() ? "name the GPU: --gpu NAME"
                                               : "without --offline and --no-driver"});
}

// The driver that is to be installed.
Choice installed(const Situation& situation, const Place& place, const Fleet& fleet,
                 DriverChoice choice) {
  if (fleet.open_only && fleet.closed_only)
    return refused(fmt::format("no one driver serves both GPUs: {} works with the open kernel "
                               "module only, {} with the proprietary one only",
                               fleet.open_only->name, fleet.closed_only->name),
                   {"keep one of them for a virtual machine (vfio-pci), or in another computer"});
  if (leave_alone(situation, choice)) return {std::move(choice), {}};
  if (fleet.last) {
    if (auto refusal = fits_repository(place, *fleet.oldest, *fleet.last))
      return {std::nullopt, *refusal};
    fill_branch(situation, *fleet.oldest, *fleet.last, choice);
  }
  if (!place.packaged)
    return refused(
        fmt::format("NVIDIA has no repository for {} on {}", place.row->title, place.machine),
        {"--no-driver, and the driver from the distribution or https://www.nvidia.com/drivers"});
  fill_flavour(situation, place, fleet.gpus, choice);
  choice.install = true;
  choice.sentence = fmt::format("{} with the {} kernel module",
                                fleet.last ? fmt::format("branch {}", *fleet.last)
                                           : std::string("the newest branch of the repository"),
                                choice.open ? "open" : "proprietary");
  if (situation.machine && !fabric::nvswitches(*situation.machine).empty())
    choice.notes.emplace_back(
        "This machine has NVSwitch: CUDA starts only when nvidia-fabricmanager of exactly the "
        "driver's version runs. Install it after the driver; gpuvet doctor compares the two.");
  return {std::move(choice), {}};
}

} // namespace

Result<Decided<DriverChoice>> choose_driver(const Situation& situation, const Place& place,
                                            const ChosenToolkit* toolkit) {
  auto gpus = gpus_of(situation);
  if (!gpus) return tl::unexpected<Error>(gpus.error());
  Fleet fleet = fleet_of(situation, place, std::move(*gpus));
  DriverChoice choice;
  choice.gpu_known = !fleet.gpus.empty() || place.wsl;
  if (fleet.module)
    return refused(fleet.module->name + " is a Jetson or DRIVE module: its driver and CUDA come "
                                        "with JetPack or DRIVE OS",
                   {"https://developer.nvidia.com/embedded/jetpack"});
  if (toolkit)
    if (auto refusal = fits_toolkit(situation, fleet, *toolkit, choice))
      return Choice{std::nullopt, *refusal};
  choice.sentence = not_here(situation, place);
  if (choice.sentence.empty() && fleet.gpus.empty())
    choice.sentence = situation.machine
                          ? "none is installed: no NVIDIA GPU that the tables know was found here "
                            "(--gpu NAME plans for one)"
                          : "none is installed: which one depends on the GPU (--gpu NAME)";
  if (!choice.sentence.empty()) return without_driver(situation, place, std::move(choice));
  return installed(situation, place, fleet, std::move(choice));
}

} // namespace gpuvet::setup
