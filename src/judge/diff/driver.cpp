// The driver: whether it answers, its version, its kernel modules.
#include "judge/diff/parts.hpp"

#include <fmt/core.h>

namespace gpuvet::diff {
namespace {

// What came of asking, in words that stay the same while the state does.
std::string answer(const Asked& asked, const std::string& call) {
  switch (asked.state) {
  case AskState::answered:
    return call + " works";
  case AskState::failed:
    return fmt::format("{} fails: {}{}{}", call, asked.error, asked.error_text.empty() ? "" : " ",
                       asked.error_text);
  case AskState::no_library:
    return "its library is not found";
  case AskState::hung:
    return "hangs";
  case AskState::crashed:
    return fmt::format("crashes with signal {}", asked.signal);
  case AskState::skipped:
    break;
  }
  return "";
}

void compare_answer(const std::string& id, const std::string& subject, const std::string& call,
                    const Asked& before, const Asked& after, Changes& changes) {
  const bool asked_before = before.state != AskState::skipped;
  const bool asked_after = after.state != AskState::skipped;
  if (asked_before && asked_after)
    changes.compare(id, subject, answer(before, call), answer(after, call));
  else if (asked_before || asked_after)
    changes.not_compared(subject, asked_before ? "not asked now: " + after.problem
                                               : "not asked before: " + before.problem);
}

std::string in_words(Flavour flavour) {
  return flavour == Flavour::open ? "open" : "proprietary";
}

Observed<std::string> flavour_of(const Machine& machine) {
  const Observed<Flavour>& flavour = machine.kernel.flavour;
  return flavour ? known(in_words(*flavour), flavour.source)
                 : unknown<std::string>(flavour.why_unknown);
}

// Loaded modules with their versions, where these are not the driver's own.
std::map<std::string, std::string> modules_of(const Machine& machine) {
  std::map<std::string, std::string> modules;
  const std::string driver = machine.kernel.module_version.value.value_or("");
  for (const KernelModule& module : *machine.kernel.modules)
    modules[module.name] =
        module.version.empty() || module.version == driver ? "loaded" : "loaded, " + module.version;
  return modules;
}

std::map<std::string, std::string> parameters_of(const Machine& machine) {
  std::map<std::string, std::string> parameters = machine.kernel.proc_params;
  for (const KernelModule& module : *machine.kernel.modules)
    for (const auto& [name, value] : module.parameters)
      parameters[module.name + "." + name] = value;
  return parameters;
}

std::map<std::string, std::string> dkms_of(const Machine& machine) {
  std::map<std::string, std::string> entries;
  for (const DkmsEntry& entry : machine.kernel.dkms)
    entries[entry.module + " for " + entry.kernel] = entry.version + " " + entry.state;
  return entries;
}

} // namespace

void compare_answers(const Machine& before, const Machine& after, Changes& changes) {
  compare_answer("cuda-answer", "CUDA driver", "cuInit", before.cuda.asked, after.cuda.asked,
                 changes);
  compare_answer("nvml-answer", "NVML", "nvmlInit", before.nvml.asked, after.nvml.asked, changes);
}

void compare_driver(const Machine& before, const Machine& after, Changes& changes) {
  // Not loaded is a state of its own, which the probe tells as "unknown" with its reason.
  changes.compare("driver-version", "driver (kernel module)",
                  before.kernel.module_version.value.value_or(""),
                  after.kernel.module_version.value.value_or(""));
  changes.compare("kernel", "kernel", before.system.kernel_release, after.system.kernel_release);
}

void compare_driver_libraries(const Machine& before, const Machine& after, Changes& changes) {
  changes.compare("driver-libraries", "driver (libraries)",
                  before.driver.user_version.value.value_or(""),
                  after.driver.user_version.value.value_or(""));
}

void compare_modules(const Machine& before, const Machine& after, Changes& changes) {
  if (before.kernel.module_version && after.kernel.module_version)
    changes.compare("module-flavour", "kernel module flavour", flavour_of(before),
                    flavour_of(after));
  if (before.kernel.modules && after.kernel.modules) {
    changes.compare_maps("module", "module ", modules_of(before), modules_of(after));
    changes.compare_maps("module-parameter", "module parameter ", parameters_of(before),
                         parameters_of(after));
  } else if (before.kernel.modules || after.kernel.modules) {
    changes.not_compared("kernel modules", "the list of modules is known on one side only");
  }
  changes.compare_maps("dkms", "DKMS ", dkms_of(before), dkms_of(after));
  changes.compare("secure-boot", "Secure Boot", before.kernel.secure_boot,
                  after.kernel.secure_boot);
  changes.compare("lockdown", "kernel lockdown", before.kernel.lockdown, after.kernel.lockdown);
  changes.compare("kernel-command-line", "kernel command line", before.kernel.command_line,
                  after.kernel.command_line);
  changes.compare("iommu", "IOMMU", before.kernel.iommu, after.kernel.iommu);
}

} // namespace gpuvet::diff
