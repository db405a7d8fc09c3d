// Why the nvidia module is not in the kernel. One cause is decided for the whole group of checks,
// so that exactly one of them fires.
#include "base/text.hpp"
#include "judge/checks/driver/parts.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet::driver {
namespace {

enum class Reason : uint8_t {
  unknown,
  not_installed,
  nova,
  nouveau,
  dkms_failed,
  dkms_compiler,
  no_headers,
  not_built,
  no_file,
  unfit_file,
  unsigned_file,
  key_refused,
  blacklisted,
  plain,
};

struct NotLoaded {
  Reason reason = Reason::unknown;
  std::vector<std::string> evidence;
  std::map<std::string, std::string> fields;
  std::string missing; // reason unknown: what is not known; else what would make it certain
};

const std::vector<std::string_view> kDriverPackages = {
    "nvidia-driver", "nvidia-dkms",  "nvidia-kernel", "nvidia-open",           "nvidia-utils",
    "kmod-nvidia",   "akmod-nvidia", "cuda-drivers",  "linux-modules-nvidia-", "nvidia-headless"};

std::string kernel_name(const Machine& machine) {
  return machine.system.kernel_release ? *machine.system.kernel_release : "the running kernel";
}

const ModuleFile* module_file(const Machine& machine) {
  if (!machine.kernel.module_files) return nullptr;
  for (const ModuleFile& file : *machine.kernel.module_files)
    if (name_of(file.path).starts_with("nvidia.ko")) return &file;
  return nullptr;
}

const DkmsEntry* dkms_entry(const Machine& machine, bool failed) {
  for (const DkmsEntry& entry : machine.kernel.dkms) {
    bool here = entry.kernel.empty() || !machine.system.kernel_release ||
                entry.kernel == *machine.system.kernel_release;
    if (entry.module.starts_with("nvidia") && here && entry.log.empty() != failed) return &entry;
  }
  return nullptr;
}

bool knows_dkms(const Machine& machine) {
  return std::any_of(machine.kernel.dkms.begin(), machine.kernel.dkms.end(),
                     [](const DkmsEntry& entry) { return entry.module.starts_with("nvidia"); });
}

const PciFunction* bound_to(const Machine& machine, std::string_view driver) {
  for (const PciFunction* gpu : pci_gpus(machine))
    if (lower_ascii(gpu->driver) == driver) return gpu;
  return nullptr;
}

std::string bound_evidence(const PciFunction& gpu) {
  return fmt::format("/sys/bus/pci/devices/{}/driver: {}", gpu.address,
                     gpu.driver.empty() ? "none" : gpu.driver);
}

// What the texts of the group name: the kernel, the driver's version on disk and its packages.
void add_fields(const Machine& machine, NotLoaded& found) {
  std::string version;
  if (const ModuleFile* file = module_file(machine)) version = file->version;
  if (version.empty() && machine.driver.user_version) version = *machine.driver.user_version;
  for (const DkmsEntry& entry : machine.kernel.dkms)
    if (version.empty() && entry.module.starts_with("nvidia")) version = entry.version;
  std::string branch = version.substr(0, version.find('.'));
  std::string open;
  for (const Package* package : packages_with(machine, kDriverPackages)) {
    if (package->name.find("-open") != std::string::npos) open = "-open";
    if (branch.empty()) {
      size_t digit = package->name.find_first_of("0123456789");
      if (digit != std::string::npos) branch = package->name.substr(digit, 3);
    }
  }
  found.fields["kernel"] = kernel_name(machine);
  found.fields["version"] = version.empty() ? "of unknown version" : version;
  found.fields["modules_package"] = fmt::format(
      "linux-modules-nvidia-{}{}-{}", branch.empty() ? "580" : branch, open, kernel_name(machine));
  std::string others;
  for (const std::string& kernel : machine.kernel.other_kernels_with_module)
    others += (others.empty() ? "" : ", ") + kernel;
  found.fields["others"] =
      others.empty() ? "no other kernel has one either" : "there is one for " + others;
}

NotLoaded because(Reason reason, std::vector<std::string> evidence) {
  return {reason, std::move(evidence), {}, {}};
}

bool is_installed(const Machine& machine) {
  const KernelSide& kernel = machine.kernel;
  return (kernel.module_files && !kernel.module_files->empty()) ||
         !kernel.other_kernels_with_module.empty() || knows_dkms(machine) ||
         machine.driver.nvidia_uninstall || !packages_with(machine, kDriverPackages).empty();
}

std::string absent_file_evidence(const Machine& machine) {
  return fmt::format("{}: no nvidia.ko", machine.kernel.module_files.source);
}

NotLoaded failed_build(const DkmsEntry& entry) {
  NotLoaded found = because(Reason::dkms_failed, {fmt::format("{}: {}", entry.log, entry.error)});
  if (entry.error.empty()) found.evidence = {entry.log + ": the build did not end well"};
  size_t place = entry.error.find(':');
  size_t slash = entry.error.rfind('/', place);
  found.fields["error"] = entry.error.empty()          ? "its log names no error"
                          : slash == std::string::npos ? entry.error
                                                       : entry.error.substr(slash + 1);
  found.fields["log"] = entry.log;
  for (std::string_view sign : {"unrecognized command", "unrecognised command", "compiler differs",
                                "Compiler version check failed"})
    if (entry.error.find(sign) != std::string::npos) found.reason = Reason::dkms_compiler;
  for (std::string_view sign : {"kernel headers", "Kernel headers", "kernel source"})
    if (entry.error.find(sign) != std::string::npos) found.reason = Reason::no_headers;
  return found;
}

// No nvidia.ko for the running kernel.
NotLoaded without_file(const Machine& machine) {
  const KernelSide& kernel = machine.kernel;
  bool no_headers = kernel.headers && !*kernel.headers;
  if (const DkmsEntry* failed = dkms_entry(machine, true)) {
    NotLoaded found = failed_build(*failed);
    // Without headers every build fails, whatever line comes first.
    if (no_headers) found.reason = Reason::no_headers;
    if (no_headers) found.evidence.push_back(kernel.headers.source);
    if (found.reason == Reason::dkms_compiler && kernel.kernel_compiler) {
      const std::string& compiler = *kernel.kernel_compiler;
      found.fields["compiler"] = compiler;
      if (compiler.starts_with("gcc "))
        found.fields["gcc_major"] = compiler.substr(4, compiler.find('.') - 4);
    }
    return found;
  }
  bool builds = knows_dkms(machine) || !packages_with(machine, {"akmod-nvidia"}).empty();
  if (builds && no_headers)
    return because(Reason::no_headers, {absent_file_evidence(machine), kernel.headers.source});
  if (knows_dkms(machine)) {
    NotLoaded found = because(Reason::not_built, {absent_file_evidence(machine)});
    for (const DkmsEntry& entry : kernel.dkms)
      found.evidence.push_back(fmt::format("/var/lib/dkms/{}/{}: {}{}", entry.module, entry.version,
                                           entry.state,
                                           entry.kernel.empty() ? "" : " for " + entry.kernel));
    return found;
  }
  return because(Reason::no_file, {absent_file_evidence(machine)});
}

// Lines that forbid the module: "blacklist nvidia", "install nvidia /bin/false", the command line.
std::vector<std::string> forbidding_lines(const Machine& machine) {
  std::vector<std::string> lines;
  for (const std::string& line : machine.kernel.modprobe_lines) {
    std::vector<std::string> words = split(line.substr(line.find(": ") + 1), " \t");
    bool nvidia = words.size() >= 2 && words[1] == "nvidia";
    bool off = nvidia && (words[0] == "blacklist" ||
                          (words[0] == "install" && words.size() >= 3 &&
                           (words[2].ends_with("/false") || words[2].ends_with("/true"))) ||
                          (words[0] == "alias" && words.size() >= 3 && words[2] == "off"));
    if (off) lines.push_back(line);
  }
  if (!machine.kernel.command_line) return lines;
  for (const std::string& word : split(*machine.kernel.command_line, " "))
    if (word.starts_with("modprobe.blacklist=") || word.starts_with("module_blacklist=") ||
        word.starts_with("rd.driver.blacklist="))
      for (const std::string& name : split(word.substr(word.find('=') + 1), ","))
        if (name == "nvidia") lines.push_back("/proc/cmdline: " + word);
  return lines;
}

bool is_enforced(const Machine& machine) {
  const KernelSide& kernel = machine.kernel;
  return (kernel.secure_boot && *kernel.secure_boot) || kernel.lockdown == "integrity" ||
         kernel.lockdown == "confidentiality";
}

std::string signature_evidence(const ModuleFile& file) {
  if (!file.is_signed) return file.path + ": whether it is signed is not known";
  return fmt::format("{}: {}", file.path,
                     !*file.is_signed      ? "not signed"
                     : file.signer.empty() ? "signed"
                                           : "signed by " + file.signer);
}

// Secure Boot refuses what is unsigned or signed by a key that the firmware does not know.
std::optional<NotLoaded> refused_by_signature(const Machine& machine, const ModuleFile& file) {
  std::vector<std::string> refused =
      log_evidence(machine, {"Key was rejected", "module with unavailable key",
                             "unsigned module is rejected", "Loading of unsigned module"});
  if (!is_enforced(machine) && refused.empty()) return std::nullopt;
  std::vector<std::string> evidence{signature_evidence(file)};
  if (machine.kernel.secure_boot && *machine.kernel.secure_boot)
    evidence.push_back(machine.kernel.secure_boot.source + ": Secure Boot is on");
  if (!machine.kernel.lockdown.empty())
    evidence.push_back("/sys/kernel/security/lockdown: " + machine.kernel.lockdown);
  evidence.insert(evidence.end(), refused.begin(), refused.end());
  if (file.is_signed && !*file.is_signed) return because(Reason::unsigned_file, evidence);
  NotLoaded found = because(Reason::key_refused, evidence);
  found.fields["signer"] = file.signer.empty() ? "a key without a name" : file.signer;
  if (refused.empty())
    found.missing = "whether the key is enrolled (mokutil --list-enrolled), or the kernel log "
                    "(sudo dmesg | grep -i 'key was rejected')";
  return found;
}

// nvidia.ko is there and is not loaded.
NotLoaded with_file(const Machine& machine, const ModuleFile& file) {
  std::string present = fmt::format("{}: version {}", file.path, file.version);
  if (const PciFunction* gpu = bound_to(machine, "nova_core"))
    return because(Reason::nova, {bound_evidence(*gpu), present});
  if (const PciFunction* gpu = bound_to(machine, "nouveau"))
    return because(Reason::nouveau, {bound_evidence(*gpu), present});
  if (auto refused = refused_by_signature(machine, file)) return *refused;
  std::vector<std::string> unfit =
      log_evidence(machine, {"nvidia: version magic", "nvidia: disagrees about version of symbol",
                             "nvidia: Unknown symbol"});
  if (!unfit.empty()) {
    unfit.push_back(present);
    return because(Reason::unfit_file, unfit);
  }
  std::vector<std::string> forbidding = forbidding_lines(machine);
  if (!forbidding.empty()) {
    NotLoaded found = because(Reason::blacklisted, forbidding);
    found.fields["line"] = forbidding.front();
    return found;
  }
  NotLoaded found = because(Reason::plain, {present, "/proc/modules: no nvidia"});
  if (!machine.kernel.log.lines)
    found.evidence.push_back("kernel log, which may name a reason: " +
                             machine.kernel.log.lines.why_unknown);
  return found;
}

NotLoaded decide(const Machine& machine) {
  const KernelSide& kernel = machine.kernel;
  if (!kernel.module_files) {
    NotLoaded found;
    found.missing = "whether there is a module for this kernel: " + kernel.module_files.why_unknown;
    return found;
  }
  if (!is_installed(machine)) {
    if (!machine.packages.relevant) {
      NotLoaded found;
      found.missing = "which packages are installed: " + machine.packages.relevant.why_unknown;
      return found;
    }
    NotLoaded found = because(Reason::not_installed,
                              {absent_file_evidence(machine),
                               machine.packages.relevant.source + ": no package of the driver"});
    for (const PciFunction* gpu : pci_gpus(machine))
      if (!gpu->driver.empty()) found.evidence.push_back(bound_evidence(*gpu));
    return found;
  }
  const ModuleFile* file = module_file(machine);
  return file ? with_file(machine, *file) : without_file(machine);
}

// Whether the group bears on this machine at all.
std::optional<Outcome> not_asked(const Machine& machine) {
  const Surroundings& around = machine.surroundings;
  if (around.wsl) return not_applicable("under WSL the driver is that of Windows");
  if (around.jetson) return not_applicable("on Jetson the driver is part of the system");
  if (in_container(machine)) return not_applicable("the host's modules are judged on the host");
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  std::vector<const PciFunction*> gpus = pci_gpus(machine);
  if (gpus.empty()) return not_applicable("no GPU of NVIDIA is on the PCI bus");
  if (std::all_of(gpus.begin(), gpus.end(),
                  [](const PciFunction* gpu) { return gpu->driver.starts_with("vfio"); }))
    return not_applicable("every GPU is reserved for virtual machines");
  if (!machine.kernel.modules)
    return not_known("which modules are loaded: " + machine.kernel.modules.why_unknown);
  if (module_loaded(machine, "nvidia")) return ok("the nvidia module is loaded");
  return std::nullopt;
}

template <Reason mine> Outcome when(const Machine& machine, const Facts&) {
  if (auto answer = not_asked(machine)) return *answer;
  NotLoaded found = decide(machine);
  if (found.reason == Reason::unknown) return not_known(found.missing);
  if (found.reason != mine) return ok("this is not why the module is not loaded");
  add_fields(machine, found);
  Outcome outcome = fires(std::move(found.evidence), std::move(found.fields));
  outcome.missing = std::move(found.missing);
  return outcome;
}

// Which package a person takes depends on what the GPU needs.
Outcome not_installed(const Machine& machine, const Facts& facts) {
  Outcome outcome = when<Reason::not_installed>(machine, facts);
  if (outcome.answer != Answer::fires) return outcome;
  std::vector<const PciFunction*> gpus = pci_gpus(machine);
  const Gpu* gpu = gpu_by_id(facts, gpus.front()->id);
  bool old = gpu && gpu->sm < 75; // no system processor: only the proprietary module serves it
  outcome.fields["count"] = counted(gpus.size(), "GPU");
  outcome.fields["gpu"] = gpu ? gpu->name : gpus.front()->id;
  outcome.fields[old ? "proprietary" : "open"] = "nvidia";
  return outcome;
}

// A container shares the host's kernel: what is missing there cannot be mended here.
Outcome missing_on_host(const Machine& machine, const Facts&) {
  if (machine.surroundings.wsl || machine.surroundings.jetson)
    return not_applicable("there is no nvidia module here");
  if (!in_container(machine)) return not_applicable("this is not a container");
  if (!machine.kernel.modules)
    return not_known("which modules are loaded: " + machine.kernel.modules.why_unknown);
  if (module_loaded(machine, "nvidia")) return ok("the host's nvidia module is loaded");
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  if (pci_gpus(machine).empty()) return not_applicable("the host shows no GPU of NVIDIA");
  return fires({"/proc/modules: no nvidia", fmt::format("/sys/bus/pci/devices: {} of NVIDIA",
                                                        counted(pci_gpus(machine).size(), "GPU"))});
}

// The module works now; the next kernel update will leave the machine without one.
Outcome headers_missing_later(const Machine& machine, const Facts&) {
  if (in_container(machine)) return not_applicable("the host's modules are judged on the host");
  if (!knows_dkms(machine)) return not_applicable("the module is not built by DKMS");
  if (!module_loaded(machine, "nvidia")) return not_applicable("the nvidia module is not loaded");
  const Observed<bool>& headers = machine.kernel.headers;
  if (!headers) return not_known(headers.why_unknown);
  if (*headers) return ok("the headers are there");
  return fires({headers.source}, {{"kernel", kernel_name(machine)}});
}

// Packages that dpkg or an interrupted upgrade left half-way.
Outcome half_configured(const Machine& machine, const Facts&) {
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  if (machine.distribution.packages != PackageSystem::apt)
    return not_applicable("only dpkg keeps such states");
  std::vector<std::string> evidence;
  std::string names;
  for (const Package& package : *machine.packages.relevant) {
    bool broken = package.status.size() >= 2 && package.status[0] == 'i' &&
                  std::string_view("UFH").find(package.status[1]) != std::string_view::npos;
    if (!broken) continue;
    evidence.push_back(fmt::format("{}: {} {} is {}", machine.packages.relevant.source,
                                   package.name, package.version, package.status));
    if (names.empty()) names = package.name;
  }
  if (evidence.empty()) return ok("all packages of the driver are configured");
  if (evidence.size() > 1) names += fmt::format(" and {} more", evidence.size() - 1);
  Outcome outcome = fires(std::move(evidence), {{"packages", names}});
  if (machine.kernel.modules && !module_loaded(machine, "nvidia"))
    outcome.severity = Severity::blocker;
  return outcome;
}

} // namespace

CheckList module_checks() {
  return {
      {"driver-not-installed", not_installed},
      {"nova-core-bound", when<Reason::nova>},
      {"nouveau-bound", when<Reason::nouveau>},
      {"dkms-build-failed", when<Reason::dkms_failed>},
      {"dkms-compiler-differs", when<Reason::dkms_compiler>},
      {"kernel-headers-missing", when<Reason::no_headers>},
      {"module-not-built", when<Reason::not_built>},
      {"module-missing-for-kernel", when<Reason::no_file>},
      {"module-does-not-fit-kernel", when<Reason::unfit_file>},
      {"module-unsigned", when<Reason::unsigned_file>},
      {"module-key-not-enrolled", when<Reason::key_refused>},
      {"nvidia-blacklisted", when<Reason::blacklisted>},
      {"module-not-loaded", when<Reason::plain>},
      {"host-module-not-loaded", missing_on_host},
      {"headers-missing-for-next-build", headers_missing_later},
      {"driver-packages-half-configured", half_configured},
  };
}

} // namespace gpuvet::driver
