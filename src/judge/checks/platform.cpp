// Checks of WSL and Jetson. Both have a driver that is not Linux' own: what is right elsewhere is
// wrong there.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/here/python.hpp"
#include "judge/here/toolkit.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr int kNvmlOperatingSystem = 17; // NVML_ERROR_OPERATING_SYSTEM
constexpr std::string_view kWslFolder = "/usr/lib/wsl/lib";

// --- WSL ----------------------------------------------------------------------------------------

std::optional<Outcome> not_wsl2(const Machine& machine) {
  if (machine.surroundings.wsl) return std::nullopt;
  return not_applicable("this is not WSL 2");
}

Outcome wsl1(const Machine& machine, const Facts&) {
  if (machine.surroundings.wsl1)
    return fires({machine.system.kernel_release ? "uname -r: " + *machine.system.kernel_release
                                                : std::string("/proc/version: the first WSL")});
  return machine.surroundings.wsl ? ok("this is WSL 2") : not_applicable("this is not WSL");
}

bool wsl_has(const Machine& machine, std::string_view name) {
  const auto& names = machine.surroundings.wsl_libraries;
  return std::find(names.begin(), names.end(), name) != names.end();
}

Outcome wsl_no_dxg(const Machine& machine, const Facts&) {
  if (auto none = not_wsl2(machine)) return *none;
  if (in_container(machine)) return not_applicable("wsl-container-without-gpu judges containers");
  if (!machine.surroundings.dxg_node) return not_known("/dev/dxg could not be looked at");
  if (*machine.surroundings.dxg_node) return ok("/dev/dxg is there");
  std::vector<std::string> evidence = {"/dev/dxg: does not exist"};
  if (machine.system.kernel_release)
    evidence.push_back("uname -r: " + *machine.system.kernel_release);
  evidence.push_back(
      fmt::format("{}: {} files", kWslFolder, machine.surroundings.wsl_libraries.size()));
  return fires(evidence);
}

Outcome wsl_no_libcuda(const Machine& machine, const Facts&) {
  if (auto none = not_wsl2(machine)) return *none;
  if (in_container(machine)) return not_applicable("wsl-container-without-gpu judges containers");
  if (wsl_has(machine, "libcuda.so.1")) return ok("/usr/lib/wsl/lib/libcuda.so.1 is there");
  if (!machine.surroundings.dxg_node || !*machine.surroundings.dxg_node)
    return not_applicable("there is no GPU to have a driver for (/dev/dxg)");
  return fires({fmt::format("{}: no libcuda.so.1; holds {}", kWslFolder,
                            machine.surroundings.wsl_libraries.empty()
                                ? "nothing"
                                : joined(machine.surroundings.wsl_libraries)),
                "/dev/dxg: exists"});
}

Outcome wsl_linux_driver(const Machine& machine, const Facts&) {
  if (auto none = not_wsl2(machine)) return *none;
  std::vector<std::string> evidence, packages;
  if (machine.packages.relevant)
    for (const Package& package : *machine.packages.relevant) {
      bool driver = package.name.starts_with("libnvidia-compute") ||
                    package.name.starts_with("nvidia-driver") ||
                    package.name.starts_with("cuda-drivers") ||
                    package.name.starts_with("nvidia-kernel") || package.name == "nvidia-open";
      if (!driver || package.status == "rc") continue;
      evidence.push_back(fmt::format("package {} {}", package.name, package.version));
      packages.push_back(package.name);
    }
  const std::string& found = machine.driver.resolved_libcuda;
  bool other = !found.empty() && !below(found, kWslFolder) && !below(found, "/usr/lib/wsl") &&
               !in_container(machine);
  if (other) evidence.insert(evidence.begin(), "the loader finds " + found);
  if (evidence.empty()) {
    if (!machine.packages.relevant && found.empty())
      return not_known(machine.packages.relevant.why_unknown);
    return ok("no Linux driver is installed");
  }
  std::map<std::string, std::string> fields = {{"what", packages.empty() ? found : packages[0]}};
  if (!packages.empty()) fields["packages"] = joined(packages, " ");
  Outcome outcome = fires(evidence, fields);
  if (!other) {
    outcome.severity = Severity::warning; // installed, but Windows' library still comes first
    outcome.fields["effect"] = "an update can put it before Windows' libcuda";
  } else {
    outcome.fields["effect"] = "programs load it in place of Windows' libcuda";
  }
  return outcome;
}

Outcome wsl_blocked(const Machine& machine, const Facts&) {
  if (auto none = not_wsl2(machine)) return *none;
  const Asked& asked = machine.nvml.asked;
  if (asked.state == AskState::skipped) return not_known("NVML was not asked: " + asked.problem);
  if (asked.state != AskState::failed || asked.error != kNvmlOperatingSystem)
    return ok("Windows does not block the GPU");
  return fires({fmt::format("nvmlInit_v2: {} ({})", asked.error,
                            asked.error_text.empty() ? "blocked by the operating system"
                                                     : asked.error_text)});
}

Outcome wsl_link(const Machine& machine, const Facts&) {
  if (auto none = not_wsl2(machine)) return *none;
  for (const LibraryFile& file : machine.driver.libcuda)
    if (file.path == "/usr/lib/wsl/lib/libcuda.so.1" && file.real_path == file.path)
      return fires({file.path + ": a regular file, not a link"});
  if (machine.driver.libcuda.empty()) return not_applicable("no libcuda.so.1 was found");
  return ok("libcuda.so.1 is a link");
}

Outcome wsl_container(const Machine& machine, const Facts&) {
  const Observed<ContainerKind>& kind = machine.surroundings.container;
  bool desktop = kind && *kind == ContainerKind::wsl_docker;
  bool in_wsl = kind && *kind != ContainerKind::none && machine.surroundings.wsl;
  if (!desktop && !in_wsl) return not_applicable("this is no container under WSL");
  if (!machine.surroundings.dxg_node) return not_known("/dev/dxg could not be looked at");
  if (*machine.surroundings.dxg_node) return ok("/dev/dxg is there");
  return fires({"/dev/dxg: does not exist in this container",
                "environment: NVIDIA_VISIBLE_DEVICES=" +
                    (machine.surroundings.nvidia_visible_devices.empty()
                         ? "(not set)"
                         : machine.surroundings.nvidia_visible_devices)});
}

// --- Jetson -------------------------------------------------------------------------------------

std::optional<Outcome> not_jetson(const Machine& machine) {
  if (machine.surroundings.jetson) return std::nullopt;
  return not_applicable("this is no Jetson");
}

std::string release_of(const Machine& machine) {
  const std::string& release = machine.surroundings.jetson_release;
  return release.empty() ? "/etc/nv_tegra_release: not read" : "/etc/nv_tegra_release: " + release;
}

bool only_for(const PackageCode& code, const LoadRules& rules, bool tegra) {
  auto is_tegra = [&](Target target) {
    return std::find(rules.tegra.begin(), rules.tegra.end(), target.sm) != rules.tegra.end();
  };
  return code.sass && !code.sass->empty() &&
         std::all_of(code.sass->begin(), code.sass->end(),
                     [&](Target target) { return is_tegra(target) == tegra; });
}

Outcome jetson_pypi(const Machine& machine, const Facts& facts) {
  if (auto none = not_jetson(machine)) return *none;
  auto rules = facts.load_rules();
  if (!rules) return not_known("the rules of loading cannot be read");
  return over_pythons(machine, [&](const PythonEnv& env) {
    auto build = torch_build(env);
    if (!build) return not_known(build.why_unknown);
    if (!*build) return not_applicable("no PyTorch in " + env_name(env));
    std::vector<std::string> evidence = {(*build)->evidence, release_of(machine)};
    std::string kind;
    if (!(*build)->cuda && !(env.torch_has_cuda && *env.torch_has_cuda)) kind = "without CUDA";
    for (const PackageCode& code : env.code)
      if (code.package == "torch" && only_for(code, **rules, false)) {
        kind = "for Arm servers (SBSA)";
        evidence.push_back(code.file + ": no code for Jetson's GPU");
      }
    if (kind.empty()) return ok((*build)->evidence);
    return fires(
        evidence,
        {{"version", (*build)->version},
         {"kind", kind},
         {"pip", pip_command(env)},
         {"jetpack", machine.surroundings.jetson_release.starts_with("R38")   ? "jp7/cu130"
                     : machine.surroundings.jetson_release.starts_with("R35") ? "jp5/cu114"
                                                                              : "jp6/cu126"}});
  });
}

Outcome jetson_wheel_elsewhere(const Machine& machine, const Facts& facts) {
  if (machine.surroundings.jetson) return not_applicable("this is a Jetson");
  if (machine.system.architecture != "aarch64") return not_applicable("this is no Arm machine");
  auto rules = facts.load_rules();
  if (!rules) return not_known("the rules of loading cannot be read");
  return over_pythons(machine, [&](const PythonEnv& env) {
    bool any = false;
    for (const PackageCode& code : env.code) {
      if (code.package != "torch") continue;
      if (!code.sass) return not_known(code.sass.why_unknown);
      any = true;
      if (!only_for(code, **rules, true)) continue;
      const PythonPackage* package = find_package(env, "torch");
      return fires({fmt::format("{}: code for {} only", code.file, sm_name(code.sass->front())),
                    "machine: aarch64, not a Jetson"},
                   {{"version", package ? package->version : "of unknown version"},
                    {"install", install_torch(env, fitting_torch(facts, machine, ""))}});
    }
    return any ? ok("PyTorch is not Jetson's") : not_applicable("no PyTorch in " + env_name(env));
  });
}

Outcome jetson_toolkit(const Machine& machine, const Facts&) {
  if (auto none = not_jetson(machine)) return *none;
  auto used = build_toolkit(machine);
  if (!used) return no_build_toolkit(machine);
  if (!machine.cuda.driver_api) return not_known("the CUDA driver did not tell its version");
  Version served = cuda_version(*machine.cuda.driver_api);
  auto toolkit = parse_version(used->version);
  if (!toolkit) return not_known("the toolkit's version cannot be read");
  Version release{{toolkit->major(), toolkit->minor()}};
  if (release <= served) return ok(fmt::format("the driver serves CUDA {}", to_string(served)));
  return fires(
      {"cuDriverGetVersion: CUDA " + to_string(served), used->evidence, release_of(machine)},
      {{"toolkit", to_string(release)},
       {"served", to_string(served)},
       {"package", fmt::format("{}-{}", release.major(), release.minor())}});
}

Outcome jetson_driver_packages(const Machine& machine, const Facts&) {
  if (auto none = not_jetson(machine)) return *none;
  if (!machine.packages.relevant) return not_known(machine.packages.relevant.why_unknown);
  std::vector<std::string> names, evidence;
  for (const Package& package : *machine.packages.relevant) {
    bool desktop = package.name.starts_with("nvidia-driver-") ||
                   package.name.starts_with("libnvidia-compute-") ||
                   package.name.starts_with("cuda-drivers");
    if (!desktop || package.status == "rc") continue;
    names.push_back(package.name);
    evidence.push_back(fmt::format("package {} {}", package.name, package.version));
  }
  if (names.empty()) return ok("no desktop driver is installed");
  evidence.push_back(release_of(machine));
  return fires(evidence, {{"package", names[0]}, {"packages", joined(names, " ")}});
}

} // namespace

CheckList platform_checks() {
  return {{"wsl1-has-no-gpu", wsl1},
          {"wsl-no-dxg", wsl_no_dxg},
          {"wsl-no-libcuda", wsl_no_libcuda},
          {"wsl-linux-driver", wsl_linux_driver},
          {"wsl-gpu-blocked", wsl_blocked},
          {"wsl-libcuda-no-link", wsl_link},
          {"wsl-container-without-gpu", wsl_container},
          {"jetson-pypi-torch", jetson_pypi},
          {"jetson-wheel-elsewhere", jetson_wheel_elsewhere},
          {"jetson-toolkit-too-new", jetson_toolkit},
          {"jetson-desktop-driver", jetson_driver_packages}};
}

} // namespace gpuvet
