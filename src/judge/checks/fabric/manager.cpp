// Checks of the fabric manager, which sets up NVSwitches and registers GPUs.
#include "judge/checks/fabric/parts.hpp"
#include "judge/doctor/diagnose.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet::fabric {
namespace {

std::vector<std::string> manager_lines(const Machine& machine, std::string_view text) {
  std::vector<std::string> evidence;
  for (const std::string& line : machine.fabric_manager.lines)
    if (line.find(text) != std::string::npos)
      evidence.push_back(machine.fabric_manager.log_file + ": " + line);
  return evidence;
}

bool is_installed(const Machine& machine) {
  return service_at(machine, kManagerUnit) || !machine.fabric_manager.program.empty() ||
         !packages_with(machine, {"nvidia-fabricmanager", "nvidia-fabric-manager"}).empty();
}

Outcome manager_missing(const Machine& machine, const Facts&) {
  if (auto answer = no_switches(machine)) return *answer;
  if (is_installed(machine)) return ok("the fabric manager is installed");
  if (all_registered(machine)) return ok("the GPUs are registered with the fabric");
  std::vector<std::string> evidence{switches_evidence(machine),
                                    "no unit, program or package nvidia-fabricmanager"};
  add_states(machine, evidence);
  add_cuda(machine, evidence);
  return fires(std::move(evidence), version_fields(machine));
}

// Told by the log of its last start, else by its package.
Observed<std::string> manager_version(const Machine& machine) {
  if (machine.fabric_manager.version) return machine.fabric_manager.version;
  for (const Package* package :
       packages_with(machine, {"nvidia-fabricmanager", "nvidia-fabric-manager"})) {
    std::string version = package->version;
    if (size_t colon = version.find(':'); colon != std::string::npos) version.erase(0, colon + 1);
    return known(version.substr(0, version.find_first_of("-+~")), "package " + package->name);
  }
  return machine.fabric_manager.version;
}

Outcome manager_version_differs(const Machine& machine, const Facts&) {
  if (auto answer = no_switches(machine)) return *answer;
  if (!is_installed(machine)) return not_applicable("the fabric manager is not installed");
  Observed<std::string> manager = manager_version(machine);
  if (!manager) return not_known("the fabric manager's version: " + manager.why_unknown);
  if (!machine.kernel.module_version) return not_known(machine.kernel.module_version.why_unknown);
  if (*manager == *machine.kernel.module_version) return ok("both are " + *manager);
  std::map<std::string, std::string> fields = version_fields(machine);
  fields["manager"] = *manager;
  std::vector<std::string> evidence{
      fmt::format("{}: {}", manager.source, *manager),
      fmt::format("{}: {}", machine.kernel.module_version.source, *machine.kernel.module_version)};
  add_manager_lines(machine, evidence);
  add_states(machine, evidence);
  Outcome outcome = fires(std::move(evidence), std::move(fields));
  if (all_registered(machine)) outcome.severity = Severity::warning;
  return outcome;
}

// Not running: CUDA refuses to start (802). Where the GPUs are registered from before, programs go
// on until the next reset, and nobody watches the links.
template <bool after_start> Outcome manager_stopped(const Machine& machine, const Facts&) {
  if (auto answer = no_switches(machine)) return *answer;
  if (!service_at(machine, kManagerUnit))
    return not_applicable("there is no unit nvidia-fabricmanager");
  Observed<bool> running = manager_running(machine);
  if (!running) return not_known("whether the fabric manager runs: " + running.why_unknown);
  if (*running) return ok("the fabric manager runs");
  if (all_registered(machine) != after_start)
    return ok(after_start ? "the GPUs were never registered" : "the GPUs are still registered");
  std::vector<std::string> evidence{switches_evidence(machine),
                                    running.source.starts_with("systemctl")
                                        ? running.source
                                        : "/proc: no process nv-fabricmanager"};
  const ServiceUnit* unit = service_at(machine, kManagerUnit);
  if (unit->restarts && *unit->restarts > 0)
    evidence.push_back(
        fmt::format("systemctl show nvidia-fabricmanager: {} restarts", *unit->restarts));
  add_manager_lines(machine, evidence);
  add_states(machine, evidence);
  add_cuda(machine, evidence);
  return fires(std::move(evidence), version_fields(machine));
}

// Harmless: it stops by itself with "nothing to do".
Outcome manager_in_vain(const Machine& machine, const Facts&) {
  if (in_container(machine)) return not_applicable("the fabric manager runs on the host");
  const ServiceUnit* unit = service_at(machine, kManagerUnit);
  if (!unit) return not_applicable("the fabric manager is not installed");
  if (!machine.kernel.functions)
    return not_known("the PCI bus: " + machine.kernel.functions.why_unknown);
  bool fabric = !nvswitches(machine).empty() || any_state(machine, kNotStarted) ||
                any_state(machine, kInProgress) || any_state(machine, kCompleted);
  if (fabric) return ok("this machine has a fabric");
  bool tries = (unit->enabled && *unit->enabled) || unit->state == "failed";
  if (!tries) return ok("the fabric manager is not enabled");
  std::vector<std::string> evidence{machine.kernel.functions.source + ": no NVSwitch",
                                    unit->file + ": enabled"};
  for (std::string& line : manager_lines(machine, "NV_WARN_NOTHING_TO_DO"))
    evidence.push_back(std::move(line));
  return fires(std::move(evidence));
}

Outcome manager_line(const Machine& machine, std::string_view text) {
  if (machine.fabric_manager.log_file.empty()) {
    if (!is_installed(machine)) return not_applicable("the fabric manager is not installed");
    return not_known("the fabric manager's log cannot be read: sudo tail "
                     "/var/log/fabricmanager.log");
  }
  std::vector<std::string> evidence = manager_lines(machine, text);
  if (evidence.empty()) return ok("its log does not say so");
  return fires(std::move(evidence));
}

Outcome topology(const Machine& machine, const Facts&) {
  Outcome outcome = manager_line(machine, "don't match with any supported system topology");
  if (outcome.answer == Answer::fires && machine.kernel.functions) {
    outcome.evidence.push_back(switches_evidence(machine));
    outcome.fields["count"] = switches_text(nvswitches(machine).size());
  }
  return outcome;
}

Outcome multicast(const Machine& machine, const Facts&) {
  return manager_line(machine, "in the multicast team");
}

Outcome local_manager(const Machine& machine, const Facts&) {
  if (!is_rack_scale(machine)) return not_applicable("this is no rack-scale NVLink system");
  Observed<bool> running = manager_running(machine);
  const ServiceUnit* unit = service_at(machine, kManagerUnit);
  if (!unit) return ok("no fabric manager on the compute tray");
  if (!running) return not_known(running.why_unknown);
  if (!*running) return ok("the fabric manager does not run on the compute tray");
  return fires({machine.nvml.gpus[0].name, running.source + ": nvidia-fabricmanager runs"});
}

} // namespace

CheckList manager_checks() {
  return {
      {"fabricmanager-missing", manager_missing},
      {"fabricmanager-version-differs", manager_version_differs},
      {"fabricmanager-not-running", manager_stopped<false>},
      {"fabricmanager-died", manager_stopped<true>},
      {"fabricmanager-not-needed", manager_in_vain},
      {"nvswitch-topology-unknown", topology},
      {"nvlink-multicast-failed", multicast},
      {"fabricmanager-on-compute-tray", local_manager},
  };
}

} // namespace gpuvet::fabric
