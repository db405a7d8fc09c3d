// Checks of variables and start-up files: what was set for debugging or for an older toolkit and
// stayed.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/environment/left_on.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

bool is_set(const std::string& value) {
  return !value.empty();
}

bool is_on(const std::string& value) {
  return switched_on(value);
}

Outcome launch_blocking(const Machine& machine, const Facts&) {
  return left_on(machine, {"CUDA_LAUNCH_BLOCKING"}, is_on);
}

Outcome debugger(const Machine& machine, const Facts&) {
  return left_on(
      machine, {"NSIGHT_CUDA_DEBUGGER", "CUDA_INJECTION64_PATH", "CUDA_INJECTION32_PATH"}, is_set);
}

Outcome waits(const Machine& machine, const Facts&) {
  return left_on(machine, {"CUDA_DEVICE_WAITS_ON_EXCEPTION"}, is_on);
}

Outcome coredump(const Machine& machine, const Facts&) {
  return left_on(machine,
                 {"CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "CUDA_ENABLE_LIGHTWEIGHT_COREDUMP",
                  "CUDA_ENABLE_USER_TRIGGERED_COREDUMP"},
                 is_on);
}

Outcome profiler(const Machine& machine, const Facts&) {
  return left_on(machine, {"CUDA_PROFILE", "COMPUTE_PROFILE", "OPENCL_PROFILE", "CUDA_AUTO_BOOST"},
                 is_on);
}

Outcome force_jit(const Machine& machine, const Facts&) {
  return left_on(machine, {"CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT"}, is_on);
}

Outcome disable_jit(const Machine& machine, const Facts&) {
  return left_on(machine, {"CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"}, is_on);
}

Outcome cache_off(const Machine& machine, const Facts&) {
  Outcome outcome = left_on(machine, {"CUDA_CACHE_DISABLE"}, is_on);
  if (outcome.answer == Answer::fires) return outcome;
  Outcome size = left_on(machine, {"CUDA_CACHE_MAXSIZE"}, [](const std::string& value) {
    std::optional<uint64_t> bytes = decimal_number(value);
    return bytes && *bytes < (16U << 20U);
  });
  return size.answer == Answer::fires ? size : outcome;
}

Outcome eager(const Machine& machine, const Facts&) {
  return left_on(machine, {"CUDA_MODULE_LOADING", "CUDA_MODULE_DATA_LOADING"},
                 [](const std::string& value) { return value == "EAGER"; });
}

Outcome tf32(const Machine& machine, const Facts&) {
  return left_on(machine, {"NVIDIA_TF32_OVERRIDE"},
                 [](const std::string& value) { return value == "0"; });
}

Outcome mps_share(const Machine& machine, const Facts&) {
  return left_on(machine, {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"}, [](const std::string& value) {
    std::optional<Version> percent = parse_version(value);
    return percent && percent->major() < 100;
  });
}

// --- start-up files ------------------------------------------------------------------------------

Outcome missing_folder(const Machine& machine, const Facts&) {
  if (machine.toolkits.settings.empty()) return not_applicable("no start-up file names CUDA");
  Outcome outcome = fires({});
  std::vector<std::string> folders;
  for (const SettingLine& line : machine.toolkits.settings) {
    if (line.missing_folders.empty()) continue;
    outcome.evidence.push_back(fmt::format("{}:{}: {}", line.file, line.line, line.text));
    for (const std::string& folder : line.missing_folders)
      if (std::find(folders.begin(), folders.end(), folder) == folders.end())
        folders.push_back(folder);
    if (outcome.fields.empty())
      outcome.fields = {{"place", fmt::format("{}:{}", line.file, line.line)},
                        {"file", line.file},
                        {"line", fmt::format("{}", line.line)}};
  }
  if (folders.empty()) return ok("every folder that the start-up files name is there");
  outcome.fields["folders"] = joined(folders);
  return outcome;
}

Outcome startup_hides(const Machine& machine, const Facts&) {
  for (const SetHere& setting : settings_of(machine, "CUDA_VISIBLE_DEVICES")) {
    if (setting.here || setting.file.empty()) continue;
    return fires({setting.where}, {{"value", setting.value},
                                   {"place", setting.file + ":" + setting.line},
                                   {"file", setting.file},
                                   {"line", setting.line}});
  }
  return ok("no start-up file sets CUDA_VISIBLE_DEVICES");
}

// Linux looks for libraries in LD_LIBRARY_PATH, never in PATH.
Outcome library_folder_in_path(const Machine& machine, const Facts&) {
  std::string path = variable(machine, "PATH");
  if (path.empty()) return not_known("PATH is not known");
  std::vector<std::string> found;
  for (const std::string& folder : split_at(path, ':')) {
    bool of_cudnn = folder.ends_with("/cudnn/lib") || folder.ends_with("/cublas/lib");
    bool of_toolkit = folder.find("cuda") != std::string::npos &&
                      (folder.ends_with("/lib64") || folder.ends_with("/lib64/"));
    if (of_cudnn || of_toolkit) found.push_back(folder);
  }
  if (found.empty()) return ok("PATH names programs only");
  std::string searched = variable(machine, "LD_LIBRARY_PATH");
  bool searched_too = std::all_of(found.begin(), found.end(), [&](const std::string& folder) {
    return (":" + searched + ":").find(":" + folder + ":") != std::string::npos;
  });
  Outcome outcome = fires({"environment: PATH has " + joined(found)}, {{"folder", found.front()}});
  if (searched_too) outcome.severity = Severity::info;
  return outcome;
}

Outcome on_host(const Machine& machine, const Facts&) {
  if (in_container(machine)) return not_applicable("this is a container");
  if (machine.surroundings.jetson) return not_applicable("Jetson");
  for (const char* name : {"NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"})
    if (machine.environment.count(name))
      return fires({fmt::format("environment: {}={}", name, variable(machine, name))},
                   {{"name", name}, {"value", variable(machine, name)}});
  return ok("neither is set");
}

} // namespace

CheckList environment_checks() {
  return {{"environment-launch-blocking", launch_blocking},
          {"environment-debugger", debugger},
          {"environment-waits-on-exception", waits},
          {"environment-coredump", coredump},
          {"environment-profiler", profiler},
          {"environment-force-jit", force_jit},
          {"environment-disable-jit", disable_jit},
          {"environment-jit-cache-off", cache_off},
          {"environment-eager-loading", eager},
          {"environment-tf32-off", tf32},
          {"environment-mps-share", mps_share},
          {"environment-missing-folder", missing_folder},
          {"environment-startup-hides-gpus", startup_hides},
          {"environment-library-folder-in-path", library_folder_in_path},
          {"environment-nvidia-variables-on-host", on_host}};
}

} // namespace gpuvet
