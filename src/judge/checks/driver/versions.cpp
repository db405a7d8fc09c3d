// Checks of the driver's versions: module in the kernel, module files, libraries, packages.
#include "judge/checks/driver/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace gpuvet::driver {
namespace {

using Versions = std::set<std::string>;

// "3:580.65.06-1.el9" -> "580.65.06"
std::string plain_version(std::string_view version) {
  if (size_t colon = version.find(':'); colon != std::string_view::npos)
    version.remove_prefix(colon + 1);
  return std::string(version.substr(0, version.find_first_of("-+~")));
}

std::string listed(const Versions& versions) {
  std::string text;
  for (const std::string& version : versions)
    text += (text.empty() ? "" : " and ") + version;
  return text;
}

std::vector<const ModuleFile*> nvidia_files(const Machine& machine) {
  std::vector<const ModuleFile*> files;
  if (machine.kernel.module_files)
    for (const ModuleFile& file : *machine.kernel.module_files)
      if (name_of(file.path).starts_with("nvidia.ko") && !file.version.empty())
        files.push_back(&file);
  return files;
}

std::string evidence(const Observed<std::string>& version) {
  return fmt::format("{}: {}", version.source, *version);
}
std::string evidence(const ModuleFile& file) {
  return fmt::format("{}: {}", file.path, file.version);
}

// Module and libraries, or why they cannot be compared.
std::optional<Outcome> not_comparable(const Machine& machine) {
  if (machine.surroundings.wsl) return not_applicable("under WSL the module is Windows' driver");
  if (machine.surroundings.jetson) return not_applicable("on Jetson both are part of the system");
  if (machine.kernel.modules && !module_loaded(machine, "nvidia"))
    return not_applicable("the nvidia module is not loaded");
  if (!machine.kernel.module_version) return not_known(machine.kernel.module_version.why_unknown);
  if (!machine.driver.user_version) return not_known(machine.driver.user_version.why_unknown);
  return std::nullopt;
}

bool is_mismatch(const Machine& machine) {
  return !not_comparable(machine) && *machine.kernel.module_version != *machine.driver.user_version;
}

Outcome library_mismatch(const Machine& machine, const Facts&) {
  if (auto answer = not_comparable(machine)) return *answer;
  const Observed<std::string>& module = machine.kernel.module_version;
  const Observed<std::string>& user = machine.driver.user_version;
  if (*module == *user) return ok(fmt::format("both are {}", *module));
  Outcome outcome =
      fires({evidence(module), evidence(user)}, {{"user", *user}, {"module", *module}});
  for (const ModuleFile* file : nvidia_files(machine))
    outcome.evidence.push_back(evidence(*file));
  for (const Packages::Event& event : machine.packages.history)
    if (event.text.find(*user) != std::string::npos) {
      outcome.evidence.push_back(fmt::format("package history: {}: {}", event.date, event.text));
      break;
    }
  return outcome;
}

// The usual advice, a reboot, loads the same module again.
Outcome mismatch_stays(const Machine& machine, const Facts&) {
  if (auto answer = not_comparable(machine)) return *answer;
  if (!is_mismatch(machine)) return ok("module and libraries have one version");
  if (in_container(machine)) return not_applicable("the host's module files are not to be seen");
  if (!machine.kernel.module_files) return not_known(machine.kernel.module_files.why_unknown);
  std::vector<const ModuleFile*> files = nvidia_files(machine);
  if (files.empty()) return not_known("no module file told its version");
  const std::string& user = *machine.driver.user_version;
  for (const ModuleFile* file : files)
    if (file->version == user) return ok("the module on disk has the libraries' version");
  Outcome outcome = fires(
      {evidence(machine.kernel.module_version), evidence(machine.driver.user_version)},
      {{"user", user}, {"file", files[0]->version}, {"branch", user.substr(0, user.find('.'))}});
  for (const ModuleFile* file : files)
    outcome.evidence.push_back(evidence(*file));
  for (const DkmsEntry& entry : machine.kernel.dkms)
    if (entry.module == "nvidia" && entry.version == user) {
      outcome.fields["dkms"] = entry.version;
      outcome.evidence.push_back(fmt::format("/var/lib/dkms/nvidia/{}: {}", user, entry.state));
    }
  if (machine.system.kernel_release) outcome.fields["kernel"] = *machine.system.kernel_release;
  return outcome;
}

// Nothing is wrong yet: the next boot loads another version than the libraries have.
Outcome reload_pending(const Machine& machine, const Facts&) {
  if (auto answer = not_comparable(machine)) return *answer;
  if (in_container(machine)) return not_applicable("the host's module files are not to be seen");
  if (is_mismatch(machine)) return not_applicable("module and libraries differ already");
  if (!machine.kernel.module_files) return not_known(machine.kernel.module_files.why_unknown);
  std::vector<const ModuleFile*> files = nvidia_files(machine);
  if (files.empty()) return not_known("no module file told its version");
  const std::string& loaded = *machine.kernel.module_version;
  for (const ModuleFile* file : files)
    if (file->version == loaded) return ok("module file and loaded module are " + loaded);
  return fires({evidence(machine.kernel.module_version), evidence(*files[0])},
               {{"file", files[0]->version}, {"module", loaded}});
}

Outcome several_module_files(const Machine& machine, const Facts&) {
  if (in_container(machine)) return not_applicable("the host's module files are not to be seen");
  if (!machine.kernel.module_files) return not_known(machine.kernel.module_files.why_unknown);
  std::vector<const ModuleFile*> files = nvidia_files(machine);
  Versions versions;
  for (const ModuleFile* file : files)
    versions.insert(file->version);
  if (versions.size() < 2) return ok("one version of the module for this kernel");
  Outcome outcome = fires({}, {{"versions", listed(versions)}});
  for (const ModuleFile* file : files) {
    outcome.evidence.push_back(evidence(*file));
    bool stale = machine.driver.user_version && file->version != *machine.driver.user_version;
    if (stale) outcome.fields["stale"] = file->path;
  }
  if (is_mismatch(machine)) {
    outcome.evidence.push_back(evidence(machine.kernel.module_version));
    outcome.severity = Severity::blocker;
  }
  return outcome;
}

// Run file beside packages, or packages of two repositories: files of one hide those of the other.
Outcome installed_twice(const Machine& machine, const Facts&) {
  if (in_container(machine) || machine.surroundings.wsl)
    return not_applicable("the driver's libraries come from outside");
  Versions versions;
  std::vector<std::string> evidence;
  for (const LibraryFile& file : machine.driver.libcuda) {
    if (file.stub || file.compat || file.version.empty()) continue;
    versions.insert(file.version);
    evidence.push_back(fmt::format("{}: {}, {}", file.path, file.version,
                                   file.owner.empty() ? "of no package" : "of " + file.owner));
  }
  auto owned = [](const LibraryFile& file) { return !file.owner.empty() && !file.compat; };
  bool packaged = std::any_of(machine.driver.libcuda.begin(), machine.driver.libcuda.end(), owned);
  bool mixed = machine.driver.nvidia_uninstall && packaged;
  if (evidence.empty()) return not_applicable("no libcuda is installed");
  if (versions.size() < 2 && !mixed) return ok("one driver: " + listed(versions));
  if (machine.driver.nvidia_uninstall)
    evidence.emplace_back("/usr/bin/nvidia-uninstall: a run file was installed");
  Outcome outcome = fires(std::move(evidence), {{"versions", listed(versions)}});
  if (mixed) outcome.fields["runfile"] = "/usr/bin/nvidia-uninstall";
  if (!is_mismatch(machine)) outcome.severity = Severity::warning;
  return outcome;
}

std::string between(const std::string& text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  if (at == std::string::npos) return {};
  at += from.size();
  return text.substr(at, text.find(to, at) - at);
}

// One program brings its own driver libraries although the machine's fit.
Outcome client_mismatch(const Machine& machine, const Facts&) {
  const KernelLog& log = machine.kernel.log;
  if (!log.lines) return not_known("the kernel log cannot be read: " + log.lines.why_unknown);
  std::vector<std::string> evidence = log_evidence(machine, {"NVRM: API mismatch"});
  if (evidence.empty()) return ok("no such line in the kernel log");
  Outcome outcome = fires(evidence, {{"client", "a program"}});
  for (const LogLine& line : *log.lines) {
    std::string client = between(line.text, "the client '", "'");
    std::string pid = between(line.text, "(pid ", ")");
    if (line.text.find("API mismatch") == std::string::npos || client.empty()) continue;
    outcome.fields["client"] = fmt::format("{} (pid {})", client, pid);
    if (!machine.processes) continue;
    for (const GpuProcess& process : *machine.processes)
      for (const std::string& library : process.libraries)
        if (std::to_string(process.pid) == pid && library.find("libcuda.so") != std::string::npos)
          outcome.evidence.push_back(fmt::format("/proc/{}/maps: {}", pid, library));
  }
  return outcome;
}

// Packages that are built from one driver release and must have its version.
Outcome packages_differ(const Machine& machine, const Facts&) {
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  std::map<std::string, std::string> by_version; // version -> first package
  for (const Package* package :
       packages_with(machine, {"libnvidia-compute-", "nvidia-compute-utils-", "nvidia-dkms-",
                               "nvidia-kernel-common-", "nvidia-utils-", "nvidia-kernel-source-",
                               "nvidia-driver-cuda", "nvidia-driver-libs", "kmod-nvidia",
                               "nvidia-kmod-common"}))
    by_version.emplace(plain_version(package->version), package->name);
  if (by_version.empty()) return not_applicable("no packages of the driver");
  if (by_version.size() < 2) return ok("the driver's packages are " + by_version.begin()->first);
  Outcome outcome = fires({}, {});
  Versions versions;
  for (const auto& [version, name] : by_version) {
    versions.insert(version);
    outcome.evidence.push_back(
        fmt::format("{}: {} {}", machine.packages.relevant.source, name, version));
  }
  outcome.fields["versions"] = listed(versions);
  return outcome;
}

// What stands in the way of loading the right module without a reboot.
Outcome module_held(const Machine& machine, const Facts&) {
  if (auto answer = not_comparable(machine)) return *answer;
  if (!is_mismatch(machine)) return not_applicable("the module need not be loaded anew");
  if (in_container(machine)) return not_applicable("the host's module is loaded anew on the host");
  std::vector<std::string> evidence;
  std::string holders;
  if (machine.processes)
    for (const GpuProcess& process : *machine.processes) {
      if (process.nodes.empty()) continue;
      std::string unit = process.unit.empty() ? "" : " of " + process.unit;
      evidence.push_back(
          fmt::format("/proc/{}/fd ({}{}): {}", process.pid, process.name, unit, process.nodes[0]));
      if (evidence.size() <= 3) holders += (holders.empty() ? "" : ", ") + process.name;
    }
  for (const KernelModule& module : *machine.kernel.modules)
    if (module.name == "nvidia" && module.references)
      evidence.push_back(fmt::format("/proc/modules: nvidia has {} users", *module.references));
  if (holders.empty())
    return machine.processes ? ok("no program that can be seen holds the module")
                             : not_known(machine.processes.why_unknown);
  return fires(std::move(evidence), {{"holders", holders}});
}

} // namespace

CheckList version_checks() {
  return {
      {"driver-library-mismatch", library_mismatch},
      {"driver-mismatch-survives-reboot", mismatch_stays},
      {"driver-reload-pending", reload_pending},
      {"module-files-differ", several_module_files},
      {"driver-installed-twice", installed_twice},
      {"driver-client-mismatch", client_mismatch},
      {"driver-packages-differ", packages_differ},
      {"module-held", module_held},
  };
}

} // namespace gpuvet::driver
