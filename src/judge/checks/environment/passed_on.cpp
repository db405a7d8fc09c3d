// Checks of variables that this shell has and that programs started otherwise do not get: by sudo,
// cron and systemd.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

const std::string kPath = "LD_LIBRARY_PATH";

// Does the process map another file of this name than programs started here get? Its path; empty:
// no.
std::string other_file(const GpuProcess& process, const ResolvedSoname& here) {
  for (const std::string& library : process.libraries) {
    const std::string_view name = name_of(library);
    if (name != here.soname && !name.starts_with(here.soname + ".")) continue;
    if (library != here.found.path && library != here.found.real_path) return library;
  }
  return {};
}

// Services and cron jobs start with a few variables of their own.
Outcome lost_in_service(const Machine& machine, const Facts&) {
  if (machine.loader.library_path.empty()) return not_applicable("LD_LIBRARY_PATH is not set");
  if (!machine.processes) return not_known(machine.processes.why_unknown);
  bool any = false;
  for (const GpuProcess& process : *machine.processes) {
    if (!process.unit.ends_with(".service") || !process.ours || !process.container.empty())
      continue;
    any = true;
    if (process.environment.count(kPath)) continue;
    for (const ResolvedSoname& here : machine.loader.sonames) {
      if (here.found.rule != FoundBy::ld_library_path) continue;
      const std::string there = other_file(process, here);
      if (there.empty()) continue;
      return fires({fmt::format("/proc/{}/environ: {} is not set", process.pid, kPath),
                    fmt::format("/proc/{}/maps: {}", process.pid, there),
                    fmt::format("here: {} ({})", here.found.path, kPath)},
                   {{"process", fmt::format("{} (pid {})", process.name, process.pid)},
                    {"unit", process.unit},
                    {"library", here.soname},
                    {"there", there},
                    {"here", here.found.path},
                    {"folder", std::string(folder_of(here.found.path))}});
    }
  }
  return any ? ok("services load the CUDA libraries that programs here load")
             : not_applicable("no service of this user is on a GPU");
}

// sudo resets the environment (env_reset) and never passes LD_LIBRARY_PATH on.
Outcome lost_in_sudo(const Machine& machine, const Facts&) {
  if (variable(machine, "SUDO_UID").empty()) return not_applicable("this was not started by sudo");
  if (!variable(machine, kPath).empty()) return ok("LD_LIBRARY_PATH is set here");
  for (const SetHere& setting : settings_of(machine, kPath)) {
    if (setting.file.empty()) continue;
    return fires({"environment: SUDO_UID is set, LD_LIBRARY_PATH is not", setting.where},
                 {{"place", setting.file + ":" + setting.line}, {"value", setting.value}});
  }
  return ok("no start-up file sets LD_LIBRARY_PATH");
}

} // namespace

CheckList passed_on_checks() {
  return {{"environment-lost-in-service", lost_in_service},
          {"environment-lost-in-sudo", lost_in_sudo}};
}

} // namespace gpuvet
