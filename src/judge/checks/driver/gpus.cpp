// Checks of each GPU against the driver: branch, flavour of the module, and whether it came up.
#include "judge/checks/driver/parts.hpp"
#include "judge/doctor/diagnose.hpp"
#include "judge/load/driver_needs.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet::driver {
namespace {

// Turing is the first with a system processor (GSP), which the open module needs; the proprietary
// module does not know Blackwell and newer.
constexpr uint32_t kFirstOpen = 75, kFirstOpenOnly = 100;

// The driver that is loaded, else the one that would be.
struct Installed {
  std::string version, version_from;
  std::optional<Flavour> flavour;
  std::string flavour_from;

  uint32_t branch() const {
    auto parsed = parse_version(version);
    return parsed ? parsed->major() : 0;
  }
};

Installed installed_driver(const Machine& machine) {
  Installed driver;
  const KernelSide& kernel = machine.kernel;
  if (kernel.module_version) {
    driver.version = *kernel.module_version;
    driver.version_from = kernel.module_version.source;
  }
  if (kernel.flavour) {
    driver.flavour = *kernel.flavour;
    driver.flavour_from = kernel.flavour.source;
  }
  if (!kernel.module_files) return driver;
  for (const ModuleFile& file : *kernel.module_files) {
    if (!name_of(file.path).starts_with("nvidia.ko")) continue;
    if (driver.version.empty() && !file.version.empty()) {
      driver.version = file.version;
      driver.version_from = file.path;
    }
    if (!driver.flavour && !file.license.empty()) {
      driver.flavour =
          file.license.find("GPL") == std::string::npos ? Flavour::proprietary : Flavour::open;
      driver.flavour_from = file.path + ", licence " + file.license;
    }
  }
  return driver;
}

std::string flavour_evidence(const Installed& driver) {
  return fmt::format("{}: {} module", driver.flavour_from,
                     *driver.flavour == Flavour::open ? "open" : "proprietary");
}

std::optional<Outcome> without_driver(const Machine& machine, const Installed& driver) {
  if (auto answer = every_gpu_served(machine)) return answer;
  if (!driver.version.empty()) return std::nullopt;
  if (machine.kernel.module_files) return not_applicable("no driver is installed");
  return not_known("the driver's version: " + machine.kernel.module_version.why_unknown);
}

std::optional<uint32_t> last_branch(const Facts& facts, const Gpu& gpu) {
  auto rules = facts.load_rules();
  return rules ? last_driver_branch(gpu, **rules) : gpu.last_driver_branch;
}

Outcome fires_for(const Machine& machine, std::vector<std::string> evidence,
                  std::map<std::string, std::string> fields, const Installed& driver) {
  fields["version"] = driver.version;
  fields["branch"] = fmt::format("{}", driver.branch());
  Outcome outcome = fires(std::move(evidence), std::move(fields));
  outcome.severity = by_others(machine);
  return outcome;
}

Outcome dropped(const Machine& machine, const Facts& facts) {
  Installed driver = installed_driver(machine);
  if (auto answer = without_driver(machine, driver)) return *answer;
  for (const PciFunction* function : unserved_gpus(machine)) {
    const Gpu* gpu = gpu_by_id(facts, function->id);
    std::optional<uint32_t> last = gpu ? last_branch(facts, *gpu) : std::nullopt;
    if (!last || driver.branch() <= *last) continue;
    std::vector<std::string> evidence{
        gpu_label(*function, facts) + ": " + gpu->architecture,
        fmt::format("{}: {}", driver.version_from, driver.version),
        fmt::format("gpuvet's tables: {} is the last driver branch for {}", *last,
                    gpu->architecture)};
    for (std::string& line : log_evidence(machine, {"ignoring the legacy GPU", "Legacy drivers"}))
      evidence.push_back(std::move(line));
    return fires_for(machine, std::move(evidence),
                     {{"gpu", gpu->name}, {"last", fmt::format("{}", *last)}}, driver);
  }
  std::vector<std::string> lines = log_evidence(machine, {"ignoring the legacy GPU"});
  if (lines.empty()) return ok("no GPU is older than this branch");
  return fires_for(machine, lines, {{"gpu", "a GPU"}, {"last", "an older one"}}, driver);
}

Outcome wants_open(const Machine& machine, const Facts& facts) {
  Installed driver = installed_driver(machine);
  if (auto answer = without_driver(machine, driver)) return *answer;
  if (!driver.flavour) return not_known(machine.kernel.flavour.why_unknown);
  if (*driver.flavour == Flavour::open) return ok("the open module is installed");
  std::vector<std::string> lines = log_evidence(machine, {"NVIDIA open kernel modules"});
  for (const PciFunction* function : unserved_gpus(machine)) {
    const Gpu* gpu = gpu_by_id(facts, function->id);
    if (!gpu || gpu->sm < kFirstOpenOnly) continue;
    std::vector<std::string> evidence{gpu_label(*function, facts) + ": " + gpu->architecture,
                                      flavour_evidence(driver)};
    evidence.insert(evidence.end(), lines.begin(), lines.end());
    return fires_for(machine, std::move(evidence), {{"gpu", gpu->name}}, driver);
  }
  if (lines.empty()) return ok("no GPU needs the open module");
  return fires_for(machine, lines, {{"gpu", "a GPU"}}, driver);
}

Outcome wants_proprietary(const Machine& machine, const Facts& facts) {
  Installed driver = installed_driver(machine);
  if (auto answer = without_driver(machine, driver)) return *answer;
  if (!driver.flavour) return not_known(machine.kernel.flavour.why_unknown);
  if (*driver.flavour == Flavour::proprietary) return ok("the proprietary module is installed");
  std::vector<std::string> lines =
      log_evidence(machine, {"because it does not include the required GPU"});
  for (const PciFunction* function : unserved_gpus(machine)) {
    const Gpu* gpu = gpu_by_id(facts, function->id);
    if (!gpu || gpu->sm >= kFirstOpen || gpu->tegra) continue;
    std::vector<std::string> evidence{gpu_label(*function, facts) + ": " + gpu->architecture,
                                      flavour_evidence(driver)};
    evidence.insert(evidence.end(), lines.begin(), lines.end());
    uint32_t last = last_branch(facts, *gpu).value_or(driver.branch());
    return fires_for(
        machine, std::move(evidence),
        {{"gpu", gpu->name}, {"last", fmt::format("{}", std::min(last, driver.branch()))}}, driver);
  }
  if (lines.empty()) return ok("no GPU needs the proprietary module");
  return fires_for(machine, lines, {{"gpu", "a GPU"}}, driver);
}

// No flavour, or no branch, serves all GPUs of this machine.
Outcome irreconcilable(const Machine& machine, const Facts& facts) {
  if (auto answer = every_gpu_served(machine)) return *answer;
  const PciFunction *oldest = nullptr, *newest = nullptr;
  const Gpu *old = nullptr, *young = nullptr;
  for (const PciFunction* function : pci_gpus(machine)) {
    const Gpu* gpu = gpu_by_id(facts, function->id);
    if (!gpu || gpu->tegra || function->driver.starts_with("vfio")) continue;
    if (!old || gpu->sm < old->sm) old = gpu, oldest = function;
    if (!young || gpu->sm > young->sm) young = gpu, newest = function;
  }
  if (!old || old->sm == young->sm) return ok("all GPUs are of one kind");
  bool flavours = old->sm < kFirstOpen && young->sm >= kFirstOpenOnly;
  std::optional<uint32_t> last = last_branch(facts, *old);
  auto first = parse_version(young->first_driver);
  bool branches = last && first && young->sm >= kFirstOpen && first->major() > *last;
  if (!flavours && !branches) return ok("one driver can serve all GPUs");
  std::vector<std::string> evidence{
      gpu_label(*oldest, facts) + ": " + old->architecture +
          (last ? fmt::format(", last driver branch {}", *last) : "") +
          (old->sm < kFirstOpen ? ", proprietary module only" : ""),
      gpu_label(*newest, facts) + ": " + young->architecture +
          (first ? ", first driver known to list it " + young->first_driver : "") +
          (flavours ? ", open module only" : "")};
  Outcome outcome = fires(std::move(evidence), {{"old", old->name}, {"young", young->name}});
  outcome.severity = by_others(machine);
  return outcome;
}

Outcome too_new(const Machine& machine, const Facts& facts) {
  Installed driver = installed_driver(machine);
  if (auto answer = without_driver(machine, driver)) return *answer;
  std::vector<std::string> lines =
      log_evidence(machine, {"installed in this system is not supported by the"});
  // The open module words its lack of GSP alike; that is another check.
  if (!log_evidence(machine, {"not supported by open"}).empty()) lines.clear();
  auto version = parse_version(driver.version);
  for (const PciFunction* function : unserved_gpus(machine)) {
    const Gpu* gpu = gpu_by_id(facts, function->id);
    auto first = gpu ? parse_version(gpu->first_driver) : std::nullopt;
    if (!gpu || !first || !version || *version >= *first) continue;
    std::vector<std::string> evidence{
        gpu_label(*function, facts), fmt::format("{}: {}", driver.version_from, driver.version),
        fmt::format("gpuvet's tables: {} is the first driver known to list it", gpu->first_driver)};
    bool certain = !lines.empty();
    evidence.insert(evidence.end(), lines.begin(), lines.end());
    Outcome outcome = fires_for(machine, std::move(evidence),
                                {{"gpu", gpu->name},
                                 {"first", gpu->first_driver},
                                 {"first_branch", fmt::format("{}", first->major())}},
                                driver);
    if (certain) return outcome;
    return likely(std::move(outcome), "the driver's word on it (sudo dmesg | grep NVRM)");
  }
  if (lines.empty()) return ok("no GPU is newer than the driver");
  return fires_for(machine, lines, {{"gpu", "a GPU"}, {"first", "a newer one"}}, driver);
}

} // namespace

CheckList gpu_checks() {
  return {
      {"gpu-dropped-by-branch", dropped},
      {"gpu-needs-open-module", wants_open},
      {"gpu-needs-proprietary-module", wants_proprietary},
      {"gpus-need-different-drivers", irreconcilable},
      {"gpu-newer-than-driver", too_new},
  };
}

} // namespace gpuvet::driver
